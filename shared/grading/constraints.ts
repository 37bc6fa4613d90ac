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
    const broken = rules.map((rule) => fault(rule, text, seen)).filter((broke) => broke !== null);
    return {
      correctness: (rules.length - broken.length) / rules.length,
      explanation:
        `${rules.length - broken.length} of ${rules.length} rules hold.` +
        (broken.length > 0 ? ` Broken: ${broken.join("; ")}.` : ""),
    };
  },
};

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

/** How `text` breaks the rule, or null where the rule holds. */
function fault(rule: Rule, text: string, seen: (text: string) => string): string | null {
  if ("n" in rule) return miscount(rule, COUNT[rule.kind](text));
  if ("words" in rule) {
    const wanted = rule.kind === "include";
    const found = holdsWords(text);
    const wrong = rule.words.filter((entry) => found(entry) !== wanted);
    return wrong.length === 0 ? null : `${rule.kind} (${wanted ? "missing" : "found"}: ${listSome(wrong, quote, 5)})`;
  }
  if ("text" in rule) {
    const wanted = seen(rule.text);
    const holds = rule.kind === "starts_with" ? text.startsWith(wanted) : text.endsWith(wanted);
    return holds ? null : `${rule.kind} ${quote(rule.text)}`;
  }
  return HOLDS[rule.kind](text) ? null : rule.kind;
}

function miscount({ kind, n }: CountingRule, count: number): string | null {
  const holds = kind.startsWith("min_") ? count >= n : kind.startsWith("max_") ? count <= n : count === n;
  return holds ? null : `${kind} ${n} (found ${count})`;
}
