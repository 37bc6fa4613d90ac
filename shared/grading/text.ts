import { type ExactJson, stringifyExact } from "../platform/exact-json.ts";

/** Says nothing, but parts what it stands in: soft hyphens, spaces without width, marks of direction. */
export const INVISIBLE = /[\u00AD\u200B\u2060\u2066-\u2069\u202A-\u202E\uFEFF]/gu;

const UNBROKEN_SPACE = /[\u00A0\u2007\u2009\u202F]/gu;
const UNBROKEN_HYPHEN = /[\u2010\u2011]/gu;
/** More than one line of printable ASCII. */
const NOT_PLAIN = /[^ -~]/u;
const LINE_END = /\r\n|\n|\r/u;
/** More marks on one letter than any script writes, by the Stream-Safe Text Format (UAX #15). */
const MANY_MARKS = /[[\p{M}\uFF9E\uFF9F]--\u034F]{30}(?=[[\p{M}\uFF9E\uFF9F]--\u034F])/gv;
const ARTICLES = new Set(["a", "an", "the"]);
const THOUSANDS_COMMA = /(?<=\d),(?=\d{3}(?!\d))/gu;
const MARK_BETWEEN_DIGITS = /(?<=\d)(?!\.)\p{P}(?=\d)/gu;
const PUNCTUATION = /(?!(?<![\p{L}.])\.\d)(?!(?<![\p{L}\p{N}])-\.?\d)\p{P}/gu;

/**
 * The text of an output: a string as it is, any other value as its JSON text.
 * @example
 * textOf({ a: 1 }) // {"a":1}
 */
export function textOf(output: ExactJson): string {
  return typeof output === "string" ? output : stringifyExact(output);
}

/**
 * As `textOf`, but with a space after the commas of JSON: else two numbers of an array read as one with a thousands comma.
 * @example
 * spacedTextOf([1, 250]) // [1, 250]
 */
export function spacedTextOf(output: ExactJson): string {
  return typeof output === "string" ? output : stringifyExact(output, ", ");
}

/**
 * As `text.normalize(form)`, but linear in the length of `text`: that sorts the marks on a letter, in a time that grows with
 * the square of their number, minutes for a megabyte. So a joiner parts every 30 of them, as the Stream-Safe Text Format has it.
 * @example
 * normalized("e\u0301", "NFC") // "\u00E9"
 */
export function normalized(text: string, form: "NFC" | "NFKC"): string {
  return text.replace(MANY_MARKS, "$&\u034F").normalize(form);
}

/**
 * `text` with one form for what looks the same: hyphens and spaces that break no line, characters that can't be seen, accents
 * apart from their letter, white space at the ends of lines, and how these end. Linear in the length of `text`.
 * @example
 * asSeen("A\u20111  \r\nB") // "A-1\nB"
 */
export function asSeen(text: string): string {
  if (!NOT_PLAIN.test(text)) return text.trimEnd();
  const shown = text.replace(INVISIBLE, "").replace(UNBROKEN_SPACE, " ").replace(UNBROKEN_HYPHEN, "-");
  return normalized(shown, "NFC")
    .split(LINE_END)
    .map((line) => line.trimEnd())
    .join("\n");
}

/**
 * Whether an output says nothing: missing, null, or white space alone.
 * @example
 * isBlank(" ") // true
 */
export function isBlank(output: ExactJson | undefined): boolean {
  return output === undefined || output === null || (typeof output === "string" && output.trim() === "");
}

/**
 * The form in which free text is compared: NFKC, lower case, punctuation removed, the articles a, an, the dropped
 * (unless the text is nothing but articles), white space folded. Numbers keep their value: a decimal point and a
 * minus stay, a thousands comma goes, and any other mark between two digits parts them.
 * @example
 * normalizeText("The 1,200 Cats!") // "1200 cats"
 */
export function normalizeText(text: string): string {
  const bare = normalized(text, "NFKC")
    .toLowerCase()
    .replaceAll("−", "-")
    .replace(THOUSANDS_COMMA, "")
    .replace(MARK_BETWEEN_DIGITS, " ")
    .replace(PUNCTUATION, "")
    .split(/\s+/u)
    .filter((word) => word !== "");
  const telling = bare.filter((word) => !ARTICLES.has(word));
  return (telling.length > 0 ? telling : bare).join(" ");
}

/**
 * `text` cut to at most `limit` UTF-16 code units, never inside a surrogate pair.
 * @example
 * clip("abcd", 2) // "a…"
 */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/u, "")}…`;
}

/**
 * `text` as a short quotation for an explanation, control characters and lone surrogates escaped.
 * @example
 * quote("a\nb") // "a\nb", the line break as an escape
 */
export function quote(text: string): string {
  return clip(JSON.stringify(clip(text, 60)), 80);
}

/**
 * The first `limit` of `items` as `show` writes them, and how many more there are.
 * @example
 * listSome([1, 2, 3], String, 2) // "1, 2 and 1 more"
 */
export function listSome<T>(items: readonly T[], show: (item: T) => string, limit = 8): string {
  const more = items.length > limit ? ` and ${items.length - limit} more` : "";
  return items.slice(0, limit).map(show).join(", ") + more;
}

/** The number of Unicode code points in `text`. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
