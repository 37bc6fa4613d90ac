import { opensWithRefusal } from "./refusal.ts";
import type { GraderType } from "./schema.ts";

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

/** How much of an answer can be the opening of a refusal, an apology before it included. */
const OPENING_LENGTH = 1000;
// What is sorry for more than the refusal, and the help that is refused by its own verb; "can't help it" is no refusal.
const APOLOGY = /^\W{0,3}I(?:['’]m| am)(?: \w+){0,2} sorry\b[^.!?\n]{0,200}?,? but (?=(?:I|we)\b)/iu;
const HELP_TO_DO =
  /\b((?:can(?:['’]t|not| not)|won['’]t|will not|(?:un|not )able to) help) (?=[a-z])(?!(?:but|it|that|this|with|you|there|if|on|in|here|\w+sel(?:f|ves)|\w+ing)\b)/giu;

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

/**
 * `text` without the trimmings that chat models put around what a grader of this type reads, so that it reads what is
 * meant: numbers as LaTeX and typography write them, a choice in a box or before a dash, JSON in a code fence that begins on
 * its first line, a refusal after an apology of more words. What a model thought, between the tags of `<think>`, is no part
 * of what it answers. Version "5" did less. Linear in the length of `text`.
 * @example
 * inPlainWriting("numeric", "\\boxed{-\\$1{,}370.9}") // "\\boxed{-$1,370.9}"
 * inPlainWriting("multiple_choice", "B — Paris") // "B - Paris"
 * inPlainWriting("exact", "<think>12?</think>\n\n13") // "13"
 */
export function inPlainWriting(type: GraderType, text: string, version: "5" | "6" = "6"): string {
  if (version === "5") return PLAIN[type]?.(text) ?? text;
  const said = withoutThought(text);
  return inPlainWriting(type, SINCE_6[type]?.(said) ?? said, "5");
}

function withoutThought(text: string): string {
  if (!text.includes("</think")) return text;
  const begun = text.trimStart();
  const [thought] = THOUGHT.exec(begun) ?? [];
  return thought === undefined ? text : begun.slice(thought.length).trimStart();
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
