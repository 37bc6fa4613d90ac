import { normalized } from "./text.ts";

/** Inside a word, a hyphen or apostrophe stands between letters or digits; combining marks belong to their letter. */
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['-][\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*/gu;
const LINE_END = /\r\n|\n|\r/u;
const LIST_NUMBER = /^[ \t]*\d{1,3}[.)](?=[ \t])/gmu;
const CLOSING = /[\p{Pe}\p{Pf}"'*_`]/u;
const SENTENCE_MARKS = ".!?…。！？";
const ABBREVIATIONS = new Set(["mr.", "mrs.", "ms.", "dr.", "prof.", "vs.", "e.g.", "i.e.", "cf."]);

/**
 * The number of words of `text`: runs of letters and digits with inner hyphens and apostrophes.
 * @example
 * countWords("A well-known man's idea") // 4
 */
export function countWords(text: string): number {
  return wordsOf(text).length;
}

function wordsOf(text: string): string[] {
  return foldedText(text).match(WORD) ?? [];
}

function foldedText(text: string): string {
  return normalized(text, "NFC").toLowerCase().replaceAll("’", "'").replace(/[‐‑]/gu, "-");
}

/**
 * Whether `text` is one word, or several with one space between them.
 * @example
 * isWords("one two") // true
 */
export function isWords(text: string): boolean {
  return text !== "" && wordsOf(text).join(" ") === foldedText(text);
}

/**
 * A test whether a word, or words in a row, occur in `text` as whole words in any case.
 * @example
 * holdsWords("The big cat.")("BIG cat") // true
 */
export function holdsWords(text: string): (words: string) => boolean {
  const found = wordsOf(text);
  const [all, each] = [` ${found.join(" ")} `, new Set(found)];
  return (words) => {
    const asked = wordsOf(words);
    // Most of what is asked is a word, or has one that occurs nowhere: then nothing has to be looked through.
    if (asked.some((word) => !each.has(word))) return false;
    return asked.length === 1 || all.includes(` ${asked.join(" ")} `);
  };
}

/**
 * The number of sentences. A sentence holds a letter or a digit and ends with `.`, `!`, `?` or `…` (closing quotes and
 * brackets may follow) before white space, with `。`, `！` or `？`, at a blank line, or with the text. No sentence ends
 * after a list number at the start of a line (`1.`) or a common abbreviation (`Dr.`, `e.g.`).
 * @example
 * countSentences("Dr. Who left. Why?") // 2
 */
export function countSentences(text: string): number {
  let count = 0;
  for (const paragraph of paragraphsOf(text.replace(LIST_NUMBER, ""))) {
    let open = false;
    for (const token of paragraph.replace(/[。！？]/gu, "$& ").split(/\s+/u)) {
      open ||= /[\p{L}\p{N}]/u.test(token);
      if (!open || !endsSentence(token)) continue;
      count += 1;
      open = false;
    }
    if (open) count += 1;
  }
  return count;
}

function endsSentence(token: string): boolean {
  let end = token.length;
  while (end > 0 && CLOSING.test(token.charAt(end - 1))) end -= 1;
  const bare = token
    .slice(0, end)
    .replace(/^[^\p{L}]+/u, "")
    .toLowerCase();
  return end > 0 && SENTENCE_MARKS.includes(token.charAt(end - 1)) && !ABBREVIATIONS.has(bare);
}

/**
 * The number of paragraphs: runs of lines, parted by lines without anything but white space.
 * @example
 * countParagraphs("a\n\nb") // 2
 */
export function countParagraphs(text: string): number {
  return paragraphsOf(text).length;
}

function paragraphsOf(text: string): string[] {
  const paragraphs: string[][] = [[]];
  for (const line of text.split(LINE_END)) {
    if (line.trim() !== "") paragraphs.at(-1)?.push(line);
    else if (paragraphs.at(-1)?.length !== 0) paragraphs.push([]);
  }
  return paragraphs.filter((lines) => lines.length > 0).map((lines) => lines.join("\n"));
}

/**
 * The number of bullets: lines that start with `-`, `*` or `•`, indented or not, but not with `--` or `**`.
 * @example
 * countBullets("- a\n* b\n-- c") // 2
 */
export function countBullets(text: string): number {
  return text.split(LINE_END).filter((line) => /^(?:-(?!-)|\*(?!\*)|•)/u.test(line.trimStart())).length;
}
