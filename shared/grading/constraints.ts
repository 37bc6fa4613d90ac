import { readJson } from "./json.ts";
import type { Rule } from "./schema.ts";
import { asSeen, codePoints, listSome, normalized, quote, textOf } from "./text.ts";
import { type GraderModule, isSince, type Issue, keyIssue } from "./types.ts";
import { countBullets, countParagraphs, countSentences, countWords, holdsWords, isWords } from "./writing.ts";

/** The share of the rules that hold for the answer's text as it is seen (`asSeen`; surrounding white space is cut). */
export const constraints: GraderModule<"constraints"> = {
  check({ grader, expected_output }) {
    const issues: Issue[] = expected_output === null ? [] : [keyIssue("Give null: the rules are the key.")];
    const option = (pointer: string, message: string) => issues.push({ pointer, code: "invalid_option", message });
    grader.rules.forEach((rule, index) => {
      if ("words" in rule) {
        rule.words.forEach((entry, at) => {
          if (!isWords(entry)) {
            option(`/grader/rules/${index}/words/${at}`, "Give one word, or words with one space between them.");
          }
        });
      }
      if ("text" in rule && rule.text !== rule.text.trim()) {
        option(`/grader/rules/${index}/text`, "Cut the white space around it: the answer's is cut, too.");
      }
    });
    return issues;
  },

  grade({ grader: { rules } }, { output }, version) {
    const seen = isSince(version, "10") ? asSeen : (text: string) => normalized(text, "NFC");
    const text = seen(textOf(output)).trim();
    const asked = { text, count: once<number>(text), holds: once<boolean>(text), words: once<Finder>(text) };
    const broken = rules.map((rule) => fault(rule, asked, seen)).filter((broke) => broke !== null);
    return {
      correctness: (rules.length - broken.length) / rules.length,
      explanation:
        `${rules.length - broken.length} of ${rules.length} rules hold.` +
        (broken.length > 0 ? ` Broken: ${broken.join("; ")}.` : ""),
    };
  },
};

/** Tells whether a text holds some words. */
type Finder = ReturnType<typeof holdsWords>;

/** A text, and what was found out of it: a long one is read once for each question, however many rules ask it. */
interface Asked {
  text: string;
  count(question: (text: string) => number): number;
  holds(question: (text: string) => boolean): boolean;
  words(question: (text: string) => Finder): Finder;
}

/** Asks each question of `text` once. */
function once<Result extends number | boolean | Finder>(text: string) {
  const known = new Map<(text: string) => Result, Result>();
  return (question: (text: string) => Result): Result => {
    const result = known.get(question) ?? question(text);
    known.set(question, result);
    return result;
  };
}

type CountingRule = Extract<Rule, { n: number }>;
type PlainRule = Exclude<Rule, { n: number } | { words: string[] } | { text: string }>;

const COUNT: { [K in CountingRule["kind"]]: (text: string) => number } = {
  min_words: countWords,
  max_words: countWords,
  exact_words: countWords,
  min_sentences: countSentences,
  max_sentences: countSentences,
  exact_paragraphs: countParagraphs,
  bullets: countBullets,
  max_chars: codePoints,
};

// A text without any letter is in neither case.
const HOLDS: { [K in PlainRule["kind"]]: (text: string) => boolean } = {
  lowercase: (text) => /\p{Ll}/u.test(text) && !/[\p{Lu}\p{Lt}]/u.test(text),
  uppercase: (text) => /\p{Lu}/u.test(text) && !/[\p{Ll}\p{Lt}]/u.test(text),
  no_commas: (text) => !text.includes(","),
  json: (text) => readJson(text) !== undefined,
};

/** How the text breaks the rule, or null where the rule holds. */
function fault(rule: Rule, asked: Asked, seen: (text: string) => string): string | null {
  const { text } = asked;
  if ("n" in rule) return miscount(rule, asked.count(COUNT[rule.kind]));
  if ("words" in rule) {
    const wanted = rule.kind === "include";
    const found = asked.words(holdsWords);
    const wrong = rule.words.filter((entry) => found(entry) !== wanted);
    return wrong.length === 0 ? null : `${rule.kind} (${wanted ? "missing" : "found"}: ${listSome(wrong, quote, 5)})`;
  }
  if ("text" in rule) {
    const wanted = seen(rule.text);
    const holds = rule.kind === "starts_with" ? text.startsWith(wanted) : text.endsWith(wanted);
    return holds ? null : `${rule.kind} ${quote(rule.text)}`;
  }
  return asked.holds(HOLDS[rule.kind]) ? null : rule.kind;
}

function miscount({ kind, n }: CountingRule, count: number): string | null {
  const holds = kind.startsWith("min_") ? count >= n : kind.startsWith("max_") ? count <= n : count === n;
  return holds ? null : `${kind} ${n} (found ${count})`;
}
