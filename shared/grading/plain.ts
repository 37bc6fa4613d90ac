import type { GraderType } from "./schema.ts";

const COMMA_OF_LATEX = /(?<=\d)(?:\{,\}|,\\!)(?=\d{3}(?!\d))/gu;
const SPACE_OF_LATEX = /(?<=\d)\\[,:; ](?=\d{3}(?!\d))/gu;
const ESCAPED_CURRENCY = /\\(?=\$)/gu;
// A dash where a minus would be unary; an em dash is never one.
const DASH_FOR_MINUS = /(?<![\p{L}\p{N})\]}%‒–—-])[‒–](?=\p{Sc}?\.?\p{Nd})/gu;

const BOXED = /\$?\\boxed\{(?:\\text\{([^{}]*)\}|([^{}]*))\}\$?/gu;
const DASH_AFTER_LETTER = /^(.{0,40}?(?<!\p{L})\(?[a-z]\)?)\s?[‒–—]\s?(?=\S)/iu;

const FENCE = "```";
const INFO_LINE = /^\w*[ \t]*\r?\n/u;
const LANGUAGE = /^json(?=[\s{["])/iu;

const PLAIN: Partial<Record<GraderType, (text: string) => string>> = {
  numeric: plainNumbers,
  multiple_choice: plainChoice,
  set_f1: withoutFence,
  json_fields: withoutFence,
  json_schema: withoutFence,
};

/**
 * `text` without the trimmings that chat models put around what a grader of this type reads, so that it reads what is
 * meant: numbers as LaTeX and typography write them, a choice in a box or before a dash, JSON in a code fence that begins on
 * its first line.
 * Linear in the length of `text`.
 * @example
 * inPlainWriting("numeric", "\\boxed{-\\$1{,}370.9}") // "\\boxed{-$1,370.9}"
 * inPlainWriting("multiple_choice", "B — Paris") // "B - Paris"
 */
export function inPlainWriting(type: GraderType, text: string): string {
  return PLAIN[type]?.(text) ?? text;
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

function withoutFence(text: string): string {
  const trimmed = text.trim();
  const isFenced = trimmed.length > 2 * FENCE.length && trimmed.startsWith(FENCE) && trimmed.endsWith(FENCE);
  const fenced = trimmed.slice(FENCE.length, -FENCE.length);
  return isFenced && !INFO_LINE.test(fenced) ? fenced.replace(LANGUAGE, "").trim() : text;
}
