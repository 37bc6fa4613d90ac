import type { ExactJson } from "../platform/exact-json.ts";
import { canonical, isLarge, isObject, readJson } from "./json.ts";
import { maximumMatching } from "./matching.ts";
import { isNear, isNearNumeral, numeralOfNumber } from "./number.ts";
import type { Json } from "./schema.ts";
import { asSeen, listSome, quote } from "./text.ts";
import { type GraderModule, isSince, type Issue, keyIssue, pointer, unreadable } from "./types.ts";

/** Most items of an unordered array that are paired with each other: it takes time in the cube of their number. */
const MOST_PAIRED = 200;

/**
 * The share of the key's fields that the answer's object holds with an equal value. Texts are equal as they are seen
 * (`asSeen`). Numbers, at any depth of a field, are equal within the field's tolerance (1e-9 without one), and whole ones beyond
 * 2^53 equal strings of their digits; the arrays of `unordered` are compared as multisets, up to 200 items that are no numbers
 * within the tolerance, too; an optional field that is missing is left out of the count. The order of keys, and fields the key
 * lacks, are no matter.
 */
export const jsonFields: GraderModule<"json_fields"> = {
  check({ grader, expected_output: key }) {
    if (!isObject(key) || Object.keys(key).length === 0) {
      return [keyIssue("Give an object with at least one field: the fields that the answer must hold.")];
    }
    const issues: Issue[] = [];
    const option = (message: string, ...path: (string | number)[]) =>
      issues.push({ pointer: pointer("grader", ...path), code: "invalid_option", message });
    for (const name of Object.keys(grader.fields ?? {})) {
      if (!Object.hasOwn(key, name)) option("Name a field of expected_output.", "fields", name);
    }
    grader.unordered?.forEach((name, index) => {
      const listed = Object.hasOwn(key, name) && Array.isArray(key[name]);
      if (!listed) option("Name a field of expected_output that holds an array.", "unordered", index);
    });
    if (Object.keys(key).every((name) => fieldOptions(grader.fields, name)?.optional)) {
      option("Leave at least one field that is not optional.", "fields");
    }
    return issues;
  },

  grade({ grader, expected_output: key }, { output }, version) {
    const answer = readJson(output);
    if (answer === undefined) return unreadable("The answer is not JSON.");
    if (!isObject(answer)) return unreadable("The answer is JSON, but not an object.");
    if (!isObject(key)) throw new TypeError("The key of json_fields must be an object.");
    const seen = isSince(version, "10") ? asSeenIn : (value: ExactJson) => value;
    const missing: string[] = [];
    const different: string[] = [];
    let counted = 0;
    for (const [name, expected] of Object.entries(key)) {
      const options = fieldOptions(grader.fields, name);
      const actual = Object.hasOwn(answer, name) ? answer[name] : undefined;
      if (actual === undefined && options?.optional) continue;
      counted += 1;
      const equal = grader.unordered?.includes(name) ? (isSince(version, "7") ? isNearBag : isSameBag) : isSame;
      if (actual === undefined) missing.push(name);
      else if (!equal(seen(actual), seen(expected), options?.tolerance))
        different.push(describe(name, actual, expected));
    }
    const right = counted - missing.length - different.length;
    return {
      correctness: right / counted,
      explanation:
        `${right} of ${counted} fields are right.` +
        (different.length > 0 ? ` Different: ${listSome(different, String)}.` : "") +
        (missing.length > 0 ? ` Missing: ${listSome(missing, quote)}.` : ""),
    };
  },
};

/** `value` with every text in it as it is seen. */
function asSeenIn(value: ExactJson): ExactJson {
  if (typeof value === "string") return asSeen(value);
  if (Array.isArray(value)) return value.map(asSeenIn);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, asSeenIn(item)]));
}

type FieldOptions = { tolerance?: number; optional?: boolean };

/** The options of the field `name`, if it has any. */
export function fieldOptions(fields: Record<string, FieldOptions> | undefined, name: string): FieldOptions | undefined {
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function describe(name: string, actual: ExactJson, expected: Json): string {
  const [is, should] = [typeName(actual), typeName(expected)];
  return is === should ? quote(name) : `${quote(name)} (${is} instead of ${should})`;
}

function typeName(value: ExactJson): string {
  if (typeof value === "bigint") return "number";
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

function isSame(
  actual: ExactJson | undefined,
  expected: ExactJson | undefined,
  tolerance: number | undefined,
): boolean {
  if (typeof actual === "number" && typeof expected === "number") return isNear(actual, expected, tolerance);
  if (typeof expected === "string" && isLarge(actual)) return canonical(actual) === expected;
  if (typeof actual === "bigint" && isNumber(expected)) {
    return isNearNumeral(numeralOfNumber(actual), numeralOfNumber(expected), tolerance);
  }
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return actual.length === expected.length && expected.every((item, index) => isSame(actual[index], item, tolerance));
  }
  if (isObject(actual) && isObject(expected)) {
    const names = Object.keys(expected);
    return (
      names.length === Object.keys(actual).length &&
      names.every((name) => Object.hasOwn(actual, name) && isSame(actual[name], expected[name], tolerance))
    );
  }
  return actual === expected;
}

/** As `isSameBag`, or with each item that is no number equal, within the tolerance, to one of its own. */
function isNearBag(actual: ExactJson, expected: ExactJson, tolerance: number | undefined): boolean {
  if (isSameBag(actual, expected, tolerance)) return true;
  if (!Array.isArray(actual) || !Array.isArray(expected) || actual.length !== expected.length) return false;
  const { numbers, others } = parted(told(actual, expected));
  const wanted = parted(expected);
  if (others.length !== wanted.others.length || others.length > MOST_PAIRED) return false;
  const fits = others.map((item) => wanted.others.map((other) => isSame(item, other, tolerance)));
  const matching = maximumMatching(others.length, others.length, (left, right) => fits[left]?.[right] ?? false);
  return !matching.includes(-1) && isSame(numbers, wanted.numbers, tolerance);
}

/** Equal as multisets: numbers in order of size and within the tolerance, everything else exactly. */
function isSameBag(actual: ExactJson, expected: ExactJson, tolerance: number | undefined): boolean {
  if (!Array.isArray(actual) || !Array.isArray(expected) || actual.length !== expected.length) return false;
  return isSame(sorted(told(actual, expected)), sorted(expected), tolerance);
}

/** `actual` with its large numbers as strings where `expected` has them so. */
function told(actual: readonly ExactJson[], expected: readonly ExactJson[]): ExactJson[] {
  const texts = new Set(expected.filter((item) => typeof item === "string"));
  return actual.map((item) => (isLarge(item) && texts.has(canonical(item)) ? canonical(item) : item));
}

function sorted(items: readonly ExactJson[]): ExactJson[] {
  const { numbers, others } = parted(items);
  return [...numbers, ...others.map(canonical).toSorted()];
}

/** The numbers of `items`, in order of size, and what else there is. */
function parted(items: readonly ExactJson[]): { numbers: ExactJson[]; others: ExactJson[] } {
  return {
    numbers: items.filter(isNumber).toSorted((a, b) => (a < b ? -1 : Number(a > b))),
    others: items.filter((item) => !isNumber(item)),
  };
}

function isNumber(value: ExactJson | undefined): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}
