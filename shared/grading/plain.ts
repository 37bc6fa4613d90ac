import { opensWithRefusal } from "./refusal.ts";
import type { GraderType } from "./schema.ts";
import { INVISIBLE } from "./text.ts";
import { type GraderVersion, isSince } from "./types.ts";

const COMMA_OF_LATEX = /(?<=\d)(?:\{,\}|,\\!)(?=\d{3}(?!\d))/gu;
const SPACE_OF_LATEX = /(?<=\d)\\[,:; ](?=\d{3}(?!\d))/gu;
const ESCAPED_CURRENCY = /\\(?=\$)/gu;
// A dash where a minus would be unary; an em dash is never one.
const DASH_FOR_MINUS = /(?<![\p{L}\p{N})\]}%‒–—-])[‒–](?=\p{Sc}?\.?\p{Nd})/gu;

// The hyphens that are no minus by themselves, and never break a line.
const HYPHEN_FOR_MINUS = /[‐‑](?=\p{Sc}?\.?\p{Nd})(?<![\p{L}\p{N})\]}%‐-—-][‐‑])/gu;

const BOXED = /\$?\\boxed\{(?:\\text\{([^{}]*)\}|([^{}]*))\}\$?/gu;
const DASH_AFTER_LETTER = /^(.{0,40}?(?<!\p{L})\(?[a-z]\)?)\s?[‒–—]\s?(?=\S)/iu;

// A box in a formula on a line of its own, and what is in it in a font.
const DISPLAYED = /(?:\\[[(]|\$\$)\s*(\\boxed\{[^{}\n]*(?:\{[^{}\n]*\})?\})\s*(?:\\[\])]|\$\$)/gu;
const BOXED_IN_A_FONT = /(?<=\\boxed\{\\)(?:textbf|textrm|mathbf|mathrm)(?=\{)/gu;

// Some servers leave out the tag that a model's thoughts begin with: then the one that ends them has to end its line.
const THOUGHT = /^(?:<think(?:ing)?>[^]*?<\/think(?:ing)?>|[^]*?<\/think(?:ing)?>(?=[ \t]*\r?\n))/u;
// Models that think between two steps leave one block after the other.
const FURTHER_THOUGHTS = /^(?:<think(?:ing)?>[^]*?<\/think(?:ing)?>\s*)+/u;

// What proxies and prompts call thoughts besides.
const OTHER_THOUGHTS = /^\s*(?:<(thought|reasoning)>[^]*?<\/\1>\s*)+/u;
const TICKED = /^(`{1,2})([^`\n]+)\1\.?$/u;

/** How much of an answer can be the opening of a refusal, an apology before it included. */
const OPENING_LENGTH = 1000;
// What is sorry for more than the refusal, and the help that is refused by its own verb; "can't help it" is no refusal.
const APOLOGY = /^\W{0,3}I(?:['’]m| am)(?: \w+){0,2} sorry\b[^.!?\n]{0,200}?,? but (?=(?:I|we)\b)/iu;
const HELP_TO_DO =
  /\b((?:can(?:['’]t|not| not)|won['’]t|will not|(?:un|not )able to) help) (?=[a-z])(?!(?:but|it|that|this|with|you|there|if|on|in|here|\w+sel(?:f|ves)|\w+ing)\b)/giu;

// What follows a number as its unit, with the powers in it: "9.8 m/s^2", "12\\,\\text{cm}^{2}".
const POWER = String.raw`(?:[\^_]\{?[-−–‑]?\p{Nd}(?!\p{Nd})\}?|<sup>[-−–‑]?\p{Nd}</sup>)`;
const UNIT_WORD = String.raw`(?:\\(?:text|mathrm)\{ ?)?\p{L}{1,12}\}?${POWER}?`;
const UNIT = new RegExp(
  String.raw`(?=[\p{L}\\])(?<=\p{Nd}(?:[ ~\u00A0\u202F]|\\[,;: ]){0,2})${UNIT_WORD}(?:(?: ?[·⋅*/] ?| ?\\cdot ?|[ -])${UNIT_WORD}){0,3}`,
  "gu",
);
const POWERS = new RegExp(POWER, "gu");

// A minus that stands apart: the sign of mathematics wherever it is unary, a hyphen, which may be a bullet, after "=" or a bracket.
const SPACED_MINUS =
  /[-−](?=[ \u00A0]\\?\p{Sc}?\.?\p{Nd})(?:(?<=[=≈([{][ \u00A0]?-)|(?<=−)(?<![\p{L}\p{N}\p{Sc})\]}%°!|*_`"'’‐-―−-]\s{0,3}−))[ \u00A0]/gu;
// "US$5" and "EUR5" are no digits at the end of a word, and "-€ 5" has its sign before the currency's.
const CURRENCY_LETTERS =
  /(?=\p{Lu})(?<!\p{L})(?:\p{Lu}{1,3}(?=\\?\p{Sc}[ \u00A0]?[-−]?\.?\p{Nd})|(?:USD|EUR|GBP|CHF|JPY|CNY|INR|Rs)(?=\p{Nd}))/gu;
const SIGNED_CURRENCY = /(?<=[-−–‑]\\?\p{Sc})[ \u00A0](?=\.?\p{Nd})/gu;

// How "6 × 10^3" is written besides.
const TIMES_OF_LATEX = /(?:\s|~|\\[,;:! ]){1,3}(\\times|\\cdot)(?:\s|~|\\[,;:! ]){1,3}(?=10)/gu;
const TIMES = /(?<=\p{Nd}\s?)[X∙•⨯✕](?=\s?10[\^*<⁻⁰¹²³⁴⁵⁶⁷⁸⁹])/gu;
const SPACED_POWER = /(?<=10) \^/gu;
const RAISED = /(?<=10)<sup>([-−–‑+]?\p{Nd}{1,3})<\/sup>/gu;

const ODD_SPACE = /(?<=\p{Nd})[\u2007\u2008](?=\p{Nd}{3}(?!\p{Nd}))/gu;
const ODD_APOSTROPHE = /(?<=\p{Nd})ʼ(?=\p{Nd}{3}(?!\p{Nd}))/gu;

// "B) –5" has a space between the letter and its text already: the dash is no second one.
const MINUS_OF_CHOICE = /(?<=[a-z]\)\s)[‒–](?=\p{Sc}?\.?\p{Nd})/giu;
const FULL_WIDTH = /[！-～]+/gu;
const DOUBLE_QUOTES = /[“”„«»]/gu;
const SINGLE_QUOTES = /[‘’]/gu;
// "The answer is option B": two openings before one letter.
const OPTION_OF_ANSWER =
  /^([*_]{0,3}(?:the\s)?(?:(?:correct|right|best|final)\s)?answer\b[*_]{0,3}(?:\sis\b)?\s?:?[*_]{0,3}\s)(?:option|choice)\s(?=[*_]{0,3}(?:\(?[a-z]\)|[a-z](?:[.:*_]|\s-|$)))/iu;

const OTHER_FENCE = /^(?:`{4,}|~{3,})/u;
const ANY_INFO_LINE = /^[^\n`]*\r?\n/u;
const INVISIBLE_START = /^[\s\u200B\u2060]+/u;
const BEGINS_JSON = /^(?:json(?=[\s{["]))?[ \t]*[{["]/iu;
const OPENS_JSON = /^\s*[{[]/u;

const FENCE = "```";
const INFO_LINE = /^\w*[ \t]*\r?\n/u;
const LANGUAGE = /^json(?=[\s{["])/iu;

type Plain = Partial<Record<GraderType, (text: string) => string>>;

const PLAIN: Plain = {
  numeric: plainNumbers,
  multiple_choice: plainChoice,
  set_f1: withoutFence,
  json_fields: withoutFence,
  json_schema: withoutFence,
};

/** What came to that with version 6 of the rules; it goes before the rest. */
const SINCE_6: Plain = {
  numeric: (text) => text.replace(HYPHEN_FOR_MINUS, "-"),
  multiple_choice: (text) => text.replace(DISPLAYED, "$1").replace(BOXED_IN_A_FONT, "text"),
  refusal: plainRefusal,
};

/** With version 7; it goes before both. */
const SINCE_7: Plain = {
  numeric: numbersSince7,
  multiple_choice: choiceSince7,
  normalized_text: plainMinus,
  set_f1: (text) => plainMinus(fenceSince7(text)),
  json_fields: fenceSince7,
  json_schema: fenceSince7,
};

/** And with version 8; it goes before those. */
const SINCE_8: Plain = {
  multiple_choice: (text) => text.replace(MINUS_OF_CHOICE, "-"),
  set_f1: listSince8,
};

/** And with version 10; it goes before all of these. */
const SINCE_10: Plain = { normalized_text: withoutTicks };

/** And with version 11; it goes before all. */
const SINCE_11: Plain = { set_f1: withoutTicks };

/** The versions that read answers so. */
type ReadSince = Exclude<GraderVersion, "3" | "4">;

/**
 * `text` without the trimmings that chat models put around what a grader of this type reads, so that it reads what is
 * meant: numbers as LaTeX and typography write them, with the powers of their units, a choice in a box or before a dash, JSON
 * in a code fence that begins on its first line, a refusal after an apology of more words, any dash for a minus. What a model
 * thought, between the tags of `<think>`, is no part of what it answers. Versions "5" to "10" did less. Linear in the length
 * of `text`.
 * @example
 * inPlainWriting("numeric", "\\boxed{-\\$1{,}370.9}") // "\\boxed{-$1,370.9}"
 * inPlainWriting("multiple_choice", "B — Paris") // "B - Paris"
 * inPlainWriting("exact", "<think>12?</think>\n\n13") // "13"
 */
export function inPlainWriting(type: GraderType, text: string, version: ReadSince = "11"): string {
  if (isSince(version, "11")) return inPlainWriting(type, SINCE_11[type]?.(text) ?? text, "10");
  if (isSince(version, "10")) {
    const answered = text.replace(OTHER_THOUGHTS, "");
    return inPlainWriting(type, SINCE_10[type]?.(answered) ?? answered, "9");
  }
  if (version === "5") return PLAIN[type]?.(text) ?? text;
  const said = withoutThought(text);
  if (version === "6") return inPlainWriting(type, SINCE_6[type]?.(said) ?? said, "5");
  const told = said.replace(FURTHER_THOUGHTS, "");
  if (isSince(version, "8")) return inPlainWriting(type, SINCE_8[type]?.(told) ?? told, "7");
  const begun = SINCE_7[type]?.(told) ?? told;
  const plain = inPlainWriting(type, SINCE_6[type]?.(begun) ?? begun, "5");
  // Not before: after a letter a dash is none.
  return type === "multiple_choice" ? plainMinus(plain) : plain;
}

/**
 * A key or a choice that is compared as text, in the form that `inPlainWriting` brings answers to since version 7.
 * @example
 * plainMinus("–5") // "-5"
 */
export function plainMinus(text: string): string {
  return text.replace(INVISIBLE, "").replace(DASH_FOR_MINUS, "-").replace(HYPHEN_FOR_MINUS, "-");
}

/**
 * `text` without the backticks around all of it.
 * @example
 * withoutTicks("`Paris`") // "Paris"
 */
export function withoutTicks(text: string): string {
  return text.trim().replace(TICKED, "$2");
}

function withoutThought(text: string): string {
  if (!text.includes("</think")) return text;
  const begun = text.trimStart();
  const [thought] = THOUGHT.exec(begun) ?? [];
  return thought === undefined ? text : begun.slice(thought.length).trimStart();
}

function numbersSince7(text: string): string {
  if (!/\p{Nd}/u.test(text)) return text;
  const visible = text
    .replace(INVISIBLE, "")
    .replace(ODD_SPACE, "\u2009")
    .replace(ODD_APOSTROPHE, "'")
    .replace(TIMES_OF_LATEX, " $1 ")
    .replace(TIMES, "×")
    .replace(SPACED_POWER, "^")
    .replace(RAISED, "^{$1}")
    .replace(UNIT, (unit) => unit.replace(POWERS, ""));
  return visible.replace(SPACED_MINUS, "-").replace(CURRENCY_LETTERS, "").replace(SIGNED_CURRENCY, "");
}

function choiceSince7(text: string): string {
  return text
    .replace(INVISIBLE, "")
    .replace(FULL_WIDTH, (run) => run.normalize("NFKC"))
    .replace(DOUBLE_QUOTES, '"')
    .replace(SINGLE_QUOTES, "'")
    .trim()
    .replace(OPTION_OF_ANSWER, "$1");
}

/** What stands in the one fence around `text`, and its first line; null where there is none. */
function inFence(text: string): { fence: string; fenced: string; info: string } | null {
  const [fence = FENCE] = OTHER_FENCE.exec(text) ?? [];
  if (!text.startsWith(fence) || !text.endsWith(fence) || text.length <= 2 * fence.length) return null;
  const fenced = text.slice(fence.length, -fence.length);
  const [info = ""] = ANY_INFO_LINE.exec(fenced) ?? [];
  return { fence, fenced, info };
}

function fenceSince7(text: string): string {
  const trimmed = text.replace(INVISIBLE_START, "").trimEnd();
  const found = inFence(trimmed);
  if (found === null) return trimmed;
  const { fenced, info } = found;
  return `${FENCE}${BEGINS_JSON.test(info) ? fenced : fenced.slice(info.trimEnd().length)}${FENCE}`;
}

/** What a fence holds: of a list the first line is an item, unless it is one word, or says how the JSON after it is written. */
function listSince8(text: string): string {
  const trimmed = text.replace(INVISIBLE_START, "").trimEnd();
  const found = inFence(trimmed);
  if (found === null || found.info === "" || BEGINS_JSON.test(found.info)) return trimmed;
  const behind = found.fenced.slice(found.info.length);
  return INFO_LINE.test(found.info) || OPENS_JSON.test(behind) ? behind : found.fenced;
}

function plainNumbers(text: string): string {
  return text
    .replace(COMMA_OF_LATEX, ",")
    .replace(SPACE_OF_LATEX, "\u2009")
    .replace(ESCAPED_CURRENCY, "")
    .replace(DASH_FOR_MINUS, "\u2212");
}

function plainChoice(text: string): string {
  return text
    .trim()
    .replace(BOXED, (_, words?: string, letter?: string) => words ?? letter ?? "")
    .replace(DASH_AFTER_LETTER, "$1 - ");
}

function plainRefusal(text: string): string {
  const opening = text.trimStart().slice(0, OPENING_LENGTH);
  // Else "I'm sorry, I can't help with that, but I can …" would lose its refusal with its apology.
  if (opensWithRefusal(opening)) return opening;
  return opening.replace(APOLOGY, "I am sorry, but ").replace(HELP_TO_DO, "$1 with ");
}

function withoutFence(text: string): string {
  const trimmed = text.trim();
  const isFenced = trimmed.length > 2 * FENCE.length && trimmed.startsWith(FENCE) && trimmed.endsWith(FENCE);
  const fenced = trimmed.slice(FENCE.length, -FENCE.length);
  return isFenced && !INFO_LINE.test(fenced) ? fenced.replace(LANGUAGE, "").trim() : text;
}
