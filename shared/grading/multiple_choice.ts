import { normalizeText, quote, spacedTextOf, textOf } from "./text.ts";
import { type GraderModule, type Issue, keyIssue } from "./types.ts";

const LEAD_IN = /^(?:the\s+)?(?:(?:correct|right|best|final)\s+)?(?:answer|choice|option)\b(?:\s+is\b)?\s*:?\s*/iu;
const MARKUP = /[*_`]/gu;
const LETTER = /^[("'[]?([a-z])[)\]"']?[.:]?[)"']?$/iu;
const LETTERED_TEXT = /^\(?([a-z])(?:\)|\.|:|\s-)\s+(.+)$/isu;

/** Longest answer, in UTF-16 code units, that can name a choice: far more than a choice with all its trimmings. */
const MAX_ANSWER_LENGTH = 10_000;

/**
 * The answer names the key among `choices`: by its letter (A for the first), by its text, or by both, if they agree.
 * Read: `B`, `b`, `(B)`, `B.`, `B)`, `Answer: B`, `The correct answer is B`, `B. Paris`, `Paris`, and all of these in
 * Markdown emphasis. Texts are compared by `normalizeText`.
 */
export const multipleChoice: GraderModule<"multiple_choice"> = {
  check({ grader: { choices }, expected_output: key }) {
    const issues: Issue[] = [];
    const texts = choices.map(normalizeText);
    texts.forEach((text, index) => {
      const fault = faultOf(text, index, texts) ?? misread(index, choices);
      if (fault) issues.push({ pointer: `/grader/choices/${index}`, code: "invalid_option", message: fault });
    });
    if (!choices.some((choice) => choice === key)) {
      issues.push(keyIssue("Give one of the choices, word for word (its text, not its letter)."));
    }
    return issues;
  },

  grade({ grader: { choices }, expected_output: key }, { output }) {
    const answer = textOf(output).trim();
    const verbatim = choices.indexOf(answer);
    const chosen = verbatim >= 0 ? verbatim : readChoice(spacedTextOf(output).trim(), choices);
    if (chosen === null) {
      return {
        correctness: 0,
        explanation: `The answer ${quote(answer)} names none of the ${choices.length} choices.`,
      };
    }
    const right = choices[chosen] === key;
    return {
      correctness: right ? 1 : 0,
      explanation: `The answer was read as choice ${letterOf(chosen)}, which is ${right ? "right" : "wrong"}.`,
    };
  },
};

function faultOf(text: string, index: number, texts: readonly string[]): string | null {
  if (text === "") return "Give each choice a text with at least one letter, digit or symbol.";
  const twin = texts.indexOf(text);
  if (twin < index) return `Reword it: compared without case and punctuation, it equals choice ${letterOf(twin)}.`;
  return null;
}

/**
 * The fault of a choice that its own text does not name, as letters are read before texts: "Option B", unless it is the
 * second. It is read as it stands, and as texts are compared, where "an Option B" has lost its article.
 */
function misread(index: number, choices: readonly string[]): string | null {
  const text = choices[index] ?? "";
  const asWritten = readChoice(text.trim(), choices);
  const asCompared = readChoice(normalizeText(text), choices) ?? index;
  if (asWritten === index && asCompared === index) return null;
  return "Reword it: it reads as the letter of another choice.";
}

/** The index of the choice that `answer` names, or null. */
function readChoice(answer: string, choices: readonly string[]): number | null {
  if (answer.length > MAX_ANSWER_LENGTH) return null;
  const texts = choices.map(normalizeText);
  const rest = answer.replace(MARKUP, "").trim().replace(LEAD_IN, "").trim();
  const letter = LETTER.exec(rest)?.[1];
  if (letter !== undefined && indexOf(letter) < choices.length) return indexOf(letter);
  const [, label, labelled] = LETTERED_TEXT.exec(rest) ?? [];
  const named = labelled === undefined ? -1 : texts.indexOf(normalizeText(labelled));
  if (label !== undefined && named >= 0) return indexOf(label) === named ? named : null;
  const index = [answer, rest].map((text) => texts.indexOf(normalizeText(text))).find((found) => found >= 0);
  return index ?? null;
}

function indexOf(letter: string): number {
  return letter.toLowerCase().charCodeAt(0) - "a".charCodeAt(0);
}

function letterOf(index: number): string {
  return String.fromCharCode("A".charCodeAt(0) + index);
}
