import type { ExactJson } from "../platform/exact-json.ts";
import { canonical, readJson } from "./json.ts";
import { listSome, normalizeText, quote } from "./text.ts";
import { type GraderModule, keyIssue, unreadable } from "./types.ts";

const LIST_MARK = /^\s*(?:[-*•]|\d{1,3}[.)])\s+/u;

/**
 * F1 of the answer's items against the key's, as sets: 2 × common / (answered + expected), and 1 where both are empty.
 * Items are those of a JSON array, or a string's parts between separators (default: comma or line end), without a list
 * mark (`-`, `*`, `•`, `1.`, `1)`) at their start; they are compared by `normalizeText`, and empty ones do not count.
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

  grade({ grader, expected_output: key }, { output }) {
    const answered = readItems(output, grader.separator);
    if (answered === null) return unreadable("The answer is neither an array of items nor a text of items.");
    const expected = readItems(key, grader.separator) ?? new Set();
    const common = answered.intersection(expected).size;
    const items = answered.size + expected.size;
    const surplus = [...answered.difference(expected)];
    return {
      correctness: items === 0 ? 1 : (2 * common) / items,
      explanation:
        `Of ${answered.size} items in the answer, ${common} are among the ${expected.size} expected.` +
        (surplus.length > 0 ? ` Not expected: ${listSome(surplus, quote)}.` : ""),
    };
  },
};

function readItems(value: ExactJson, separator: string | undefined): Set<string> | null {
  const list = readJson(value);
  if (Array.isArray(list)) return new Set(list.map(itemOf).filter((item) => item !== ""));
  if (typeof value !== "string") return null;
  const parts = value.split(separator ?? /[,\n\r]/u);
  return new Set(parts.map((part) => normalizeText(part.replace(LIST_MARK, ""))).filter((item) => item !== ""));
}

function itemOf(item: ExactJson): string {
  return typeof item === "string" ? normalizeText(item) : canonical(item);
}
