import { normalized, textOf } from "../../grading/text.ts";
import type { Content } from "../create-task-schemas.ts";

/** The rules that draw a reviewer's attention to a proposed task, in the order in which they are told. */
export const FLAGS = ["near_duplicate", "key_in_prompt", "asks_for_credentials", "contains_url"] as const;

/** The name of a rule. */
export type Flag = (typeof FLAGS)[number];

/** The flags that follow from the task alone: all but `near_duplicate`. They are hints; nothing is refused for them. */
export function flagsOf(task: Content): Flag[] {
  const { prompt, input, tools } = task;
  const told = [prompt, textOf(input), ...(tools ?? []).map(({ description }) => description)].map(fold).join("\n");
  const met: Flag[] = [];
  if (keyInPrompt(task)) met.push("key_in_prompt");
  if (asksForCredentials(told)) met.push("asks_for_credentials");
  if (containsUrl(told)) met.push("contains_url");
  return met;
}

function fold(text: string): string {
  return normalized(text, "NFKC").toLowerCase();
}

/** A text as keys are looked for in it: thousands separators are dropped. */
function whole(text: string): string {
  return fold(text).replaceAll(/(?<=\d),(?=\d{3}(?!\d))/g, "");
}

/** The words of a text, with one space between them. */
function wordsOf(text: string): string {
  return whole(text)
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** Shorter keys, as yes or 42, stand in prompts by chance. */
const TELLING_LENGTH = 4;
/** How many short texts of one key are looked for: a key may list thousands, and a prompt hold as many places for each. */
const MOST_SHORT = 20;
/** Of how many words of a key it is looked whether they are marked: a prompt may begin it anew with each of its own. */
const MOST_WORDS = 20;

/** A key that is a choice, a number or short is given away where it is marked as the answer; any other, where it stands. */
function keyInPrompt({ grader, expected_output: key, prompt }: Content): boolean {
  switch (grader.type) {
    case "refusal":
    case "regex":
    case "json_schema":
    case "constraints":
      return false;
    case "multiple_choice": {
      const letter = String.fromCodePoint(97 + grader.choices.findIndex((choice) => choice === key));
      return anyMarked(prompt, [textOf(key), letter].map(wordsOf));
    }
    case "numeric":
      return anyMarked(prompt, [wordsOf(textOf(key))]);
    case "normalized_text":
      return anyStands(prompt, [key].flat().map(textOf));
    default:
      return anyStands(prompt, [textOf(key)]);
  }
}

/** The prompt is read once, however many texts the key lists. */
function anyStands(prompt: string, keys: readonly string[]): boolean {
  const told = ` ${wordsOf(prompt)} `;
  const { telling = [], short = [] } = Object.groupBy(keys.map(wordsOf), (words) =>
    words.length < TELLING_LENGTH ? "short" : "telling",
  );
  return telling.some((words) => told.includes(` ${words} `)) || anyMarked(prompt, short.slice(0, MOST_SHORT));
}

const MARK_BEFORE = String.raw`(?:\b(?:answer|solution|key|result|output|option|choice)(?: is| should be)?\s*(?:[:=→]|->|\bis\b|\bbe\b)|[✓✔✅]|\[x\])[^\p{L}\p{N}\n]{0,8}`;
const MARK_AFTER = String.raw`[^\p{L}\p{N}\n]{0,3}(?:\bcorrect\b(?=\))|[✓✔✅])`;
// A unit may follow, and so may the end; another choice makes it a list of what may be answered.
const ENDS = String.raw`(?![\p{L}\p{N}]|[.,]\p{N}|\s*(?:[,/|]|or\b|to\b))`;
const WORD_ENDS = String.raw`(?![\p{L}\p{N}])`;
const CLAUSE_ENDS = String.raw`(?=\s*(?:[^\p{L}\p{N}\s,/|]|$))`;

/** Whether one of the keys, in words, stands in the prompt as the answer: after "answer:", say, or before "(correct)". */
function anyMarked(prompt: string, keys: readonly string[]): boolean {
  const places = keys.flatMap((words) => {
    if (words === "") return [];
    const all = words.split(" ");
    const written = (some: readonly string[]): string => some.join(String.raw`[^\p{L}\p{N}]+`);
    // The letter of a choice may be a word too: the answer is a number.
    const ends = words.length === 1 && /\p{L}/u.test(words) ? CLAUSE_ENDS : ENDS;
    return {
      before: written(all.slice(0, MOST_WORDS)) + (all.length > MOST_WORDS ? WORD_ENDS : ends),
      after: written(all.slice(-MOST_WORDS)),
    };
  });
  if (places.length === 0) return false;
  const before = `${MARK_BEFORE}(?:${places.map((place) => place.before).join("|")})`;
  const after = String.raw`(?<![\p{L}\p{N}])(?:${places.map((place) => place.after).join("|")})${MARK_AFTER}`;
  return new RegExp(`${before}|${after}`, "mu").test(whole(prompt));
}

const CREDENTIAL =
  /\b(?:pass(?:word|phrase|code)s?|(?:api|access|private|secret|signing|encryption|ssh)[ _-]?keys?|(?:access|auth|bearer|refresh|secret|session)[ _-]?tokens?|(?:seed|recovery|mnemonic)[ _-]?phrases?|(?:credit|debit)[ _-]?cards?|card numbers?|cvv|cvc|pins?(?: codes?| numbers?)|one[ -]time (?:codes?|passwords?)|otp|2fa codes?|social security numbers?|ssn|login credentials?|credentials|\.env|env(?:ironment)? variables?)\b|\b[a-z0-9]+_(?:api_key|secret|token|password|secret_access_key)\b/;
const ASKING =
  /\b(?:your|enter|provide|give|send|share|reveal|tell|type|paste|submit|include|output|return|print|show|disclose|state|reply|respond|list|dump|supply|report|repeat|hand over|what(?:'s|’s| is| are)|need|ask|request|please|fill in|log ?in with)\b/;

/** Whether a sentence both asks and names a credential. */
function asksForCredentials(told: string): boolean {
  return told.split(/[.!?]\s|\n/).some((sentence) => CREDENTIAL.test(sentence) && ASKING.test(sentence));
}

const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|1?\d?\d)`;
const URLS = [
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/\S/,
  /\bwww\d?\.[a-z0-9]/,
  /\blocalhost(?::\d|\/)/,
  /\[[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}\](?::\d|\/)/,
  new RegExp(String.raw`(?<![\d.])${OCTET}(?:\.${OCTET}){3}(?![\d.]*\d)`),
  /(?<![@\w.-])(?:[a-z0-9-]{1,63}\.){1,5}(?:com|org|net|io|dev|ai|app|co|info|biz|xyz|me|gov|edu|onion)(?![\w-]|\.\w)/,
];

/** Whether a URL, the name of a site or an IP address is among what the agent is told. */
function containsUrl(told: string): boolean {
  return URLS.some((url) => url.test(told));
}
