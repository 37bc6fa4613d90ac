import type { ExactJson } from "../platform/exact-json.ts";
import { canonical, readJson } from "./json.ts";
import { listSome, normalizeText, quote } from "./text.ts";
import { withoutTicks } from "./plain.ts";
import { type GraderModule, isSince, keyIssue, unreadable } from "./types.ts";

const LIST_MARK = /^\s*(?:[-*•]|\d{1,3}[.)])\s+/u;
const AND_TICKS = /^\s*and\s+(?=`)/iu;

/**
 * F1 of the answer's items against the key's, as sets: 2 × common / (answered + expected), and 1 where both are empty.
 * Items are those of a JSON array, or a string's parts between separators (default: comma or line end), without a list
 * mark (`-`, `*`, `•`, `1.`, `1)`) at their start; they are compared by `normalizeText`, without backticks around them and, unless
 * an expected one begins so, without "and" before them ("a, b, and c"). Empty ones do not count.
 */
export const setF1: GraderModule<"set_f1"> = {
  check({ grader, expected_output: key }) {
    const items = readItems(key, grader.separator);
    if (items === null) return [keyIssue("Give the expected items: an array, or a string of items.")];
    if (!Array.isArray(key)) return [];
    return key.flatMap((item, index) =>
      itemOf(item) === "" ? [keyIssue("Leave out items without a letter, digit or symbol.", index)] : [],
    );
  },

  grade({ grader, expected_output: key }, { output }, version) {
    const isSince11 = isSince(version, "11");
    const read = isSince11 ? (text: string) => withoutTicks(text.replace(AND_TICKS, "")) : String;
    const expected = readItems(key, grader.separator, read) ?? new Set();
    const items = readItems(output, grader.separator, read);
    if (items === null) return unreadable("The answer is neither an array of items nor a text of items.");
    const answered = isSince11 ? withoutAnd(items, expected) : items;
    const common = answered.intersection(expected).size;
    const all = answered.size + expected.size;
    const surplus = [...answered.difference(expected)];
    return {
      correctness: all === 0 ? 1 : (2 * common) / all,
      explanation:
        `Of ${answered.size} items in the answer, ${common} are among the ${expected.size} expected.` +
        (surplus.length > 0 ? ` Not expected: ${listSome(surplus, quote)}.` : ""),
    };
  },
};

function readItems(value: ExactJson, separator?: string, read: (text: string) => string = String): Set<string> | null {
  const list = readJson(value);
  if (Array.isArray(list)) return new Set(list.map((item) => itemOf(item, read)).filter((item) => item !== ""));
  if (typeof value !== "string") return null;
  const parts = value.split(separator ?? /[,\n\r]/u);
  return new Set(parts.map((part) => itemOf(part.replace(LIST_MARK, ""), read)).filter((item) => item !== ""));
}

function itemOf(item: ExactJson, read: (text: string) => string = String): string {
  return typeof item === "string" ? normalizeText(read(item)) : canonical(item);
}

/** The items with those that are expected in place of the same after an "and". */
function withoutAnd(items: ReadonlySet<string>, expected: ReadonlySet<string>): Set<string> {
  const bare = (item: string): string => item.replace(/^and /u, "");
  return new Set(Array.from(items, (item) => (!expected.has(item) && expected.has(bare(item)) ? bare(item) : item)));
}
