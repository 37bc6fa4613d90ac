const COUNTS = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");
const ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split(" ");

/** The number that a numeral or an English word from zero to twelve names; null for anything else. */
export function countOf(word: string): number | null {
  if (/^\d+$/.test(word)) return Number(word);
  const count = COUNTS.indexOf(word.toLowerCase());
  return count < 0 ? null : count;
}

/** The number that an ordinal from first to tenth names; null for anything else. */
export function ordinalOf(word: string): number | null {
  const at = ORDINALS.indexOf(word.toLowerCase());
  return at < 0 ? null : at + 1;
}

/** The sentences of a text, without the mark that ends a statement; a line end ends a sentence, too. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|\n+/u)
    .map((sentence) => sentence.trim().replace(/\.$/u, ""))
    .filter((sentence) => sentence !== "");
}

/** The items of an enumeration such as “oak, elm and ash”. */
export function listed(text: string): string[] {
  return text
    .split(/,\s*(?:and |or )?|\s+(?:and|or)\s+/u)
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** The words of a text in lower case. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? [];
}

/** The choices of a question whose lines read `A) text`, by their letters in order. */
export function choicesOf(prompt: string): Map<string, string> {
  const lines = [...prompt.matchAll(/^\(?([A-H])\)\s+(.+)$/gmu)];
  return new Map(lines.map(([, letter = "", text = ""]) => [letter, text.trim()]));
}

/** The answer to a question with choices: the letter of the one that reads `text`, or `text` where none does. */
export function asChoice(prompt: string, text: string): string {
  const found = [...choicesOf(prompt)].find(([, choice]) => choice.toLowerCase() === text.toLowerCase());
  return found?.[0] ?? text;
}

/** A number written as the prompt asks: “rounded to one decimal place”, “with two decimals”, else as it is. */
export function numberAsAsked(prompt: string, value: number): string {
  const places = countOf(/\b(\w+) decimals?\b/iu.exec(prompt)?.[1] ?? "");
  return places === null ? String(value) : value.toFixed(places);
}

/** `text` as part of a regular expression that matches it literally. */
export function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/gu, "\\$&");
}

/**
 * What the groups of `pattern` caught, if it matches the whole of `text` (in any case); a group that caught nothing is
 * empty. Null where it does not match.
 */
export function captured(pattern: string, text: string): [string, string, string, string, string] | null {
  const match = new RegExp(`^(?:${pattern})$`, "iu").exec(text);
  if (match === null) return null;
  const [, a = "", b = "", c = "", d = "", e = ""] = match;
  return [a, b, c, d, e];
}
