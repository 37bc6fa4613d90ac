import type { ExactJson } from "../platform/exact-json.ts";
import { isNearNumeral, lastNumeral, meantNumeral, type Numeral, numeralOfNumber, soleNumeral } from "./number.ts";
import type { Json } from "./schema.ts";
import { spacedTextOf } from "./text.ts";
import { type GraderModule, isSince, type Issue, keyIssue, unreadable } from "./types.ts";

/** Below this size a key is too near to 0 for the fixed 1e-9 that stands in for a missing tolerance. */
const SMALLEST_KEY_WITHOUT_TOLERANCE = 1e-6;

/** The last number that the answer means is near the key: within `tolerance`, times the key's size when `relative`. */
export const numeric: GraderModule<"numeric"> = {
  check({ grader, expected_output }) {
    const key = readKey(expected_output);
    if (key === null) return [keyIssue('Give a number, or a string that is one number, such as 25 or "1,234.5".')];
    const issues: Issue[] = [];
    const option = (message: string, name: string) =>
      issues.push({ pointer: `/grader/${name}`, code: "invalid_option", message });
    if (grader.relative && grader.tolerance === undefined) {
      option("Give a tolerance: relative says how it is meant.", "relative");
    }
    if (grader.relative && key.value === 0) option("Leave relative out: of the key 0 every share is 0.", "relative");
    const tiny = key.value !== 0 && Math.abs(key.value) < SMALLEST_KEY_WITHOUT_TOLERANCE;
    if (tiny && grader.tolerance === undefined) {
      issues.push(keyIssue("Give the grader a tolerance: without one, numbers within 1e-9 of so small a key pass."));
    }
    return issues;
  },

  grade({ grader, expected_output }, { output }, version) {
    const read = isSince(version, "10") ? meantNumeral : lastNumeral;
    const value = isNumber(output) ? numeralOfNumber(output) : read(spacedTextOf(output));
    if (value === "open") return unreadable("The answer leaves open which of two numbers it is.");
    if (value === null) return unreadable("No number was found in the answer.");
    const key = readKey(expected_output) ?? { value: Number.NaN, integer: null };
    const tolerance = grader.relative ? (grader.tolerance ?? 0) * Math.abs(key.value) : grader.tolerance;
    const allowed =
      grader.tolerance === undefined ? "" : ` (tolerance ${grader.tolerance}${grader.relative ? ", relative" : ""})`;
    const isLarge = Number.isInteger(value.value) && !Number.isSafeInteger(value.value);
    const said = `The answer was read as ${isLarge && value.integer !== null ? value.integer : value.value}`;
    return isNearNumeral(value, key, tolerance)
      ? { correctness: 1, explanation: `${said}, which is the expected number${allowed}.` }
      : { correctness: 0, explanation: `${said}, which is not the expected number${allowed}.` };
  },
};

function readKey(key: Json): Numeral | null {
  const read = typeof key === "string" ? soleNumeral(key) : typeof key === "number" ? numeralOfNumber(key) : null;
  return read !== null && Number.isFinite(read.value) ? read : null;
}

function isNumber(output: ExactJson): output is number | bigint {
  return typeof output === "number" || typeof output === "bigint";
}
