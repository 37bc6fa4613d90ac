import { type ExactJson, parseExact } from "../platform/exact-json.ts";
import { numeralOfNumber } from "./number.ts";
import type { Json } from "./schema.ts";

/** Deepest nesting of arrays and objects that grading reads; it bounds every recursion over a JSON value. */
export const MAX_DEPTH = 64;

const FENCE = "```";

/**
 * Whether `value` nests arrays and objects at most `limit` deep. Iterative: no depth overflows the stack.
 * @example
 * depthWithin([[1]], 1) // false
 */
export function depthWithin(value: ExactJson, limit: number = MAX_DEPTH): boolean {
  const open: [ExactJson, number][] = [[value, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [node, depth] = next;
    if (node === null || typeof node !== "object") continue;
    if (depth === limit) return false;
    for (const child of Array.isArray(node) ? node : Object.values(node)) open.push([child, depth + 1]);
  }
  return true;
}

/**
 * The doubles beyond 2^53 in `value`, each with its path: their last digits may have been lost in parsing. Iterative.
 * @example
 * [...roundedIn({ a: [2 ** 60] })] // [[["a", 0], 2 ** 60]]
 */
export function* roundedIn(value: Json): Generator<[path: (string | number)[], number: number]> {
  const open: [path: (string | number)[], node: Json][] = [[[], value]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [path, node] = next;
    if (isRounded(node)) yield [path, node];
    if (node === null || typeof node !== "object") continue;
    const children = Array.isArray(node) ? node.entries() : Object.entries(node);
    for (const [name, child] of children) open.push([[...path, name], child]);
  }
}

/** Whether `value` holds a double beyond 2^53. */
export function holdsRounded(value: Json): boolean {
  return roundedIn(value).next().done === false;
}

function isRounded(value: ExactJson): value is number {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** Whether `value` is a whole number beyond 2^53: a key gives it as a string, which an answer need not do. */
export function isLarge(value: ExactJson | undefined): value is number | bigint {
  return typeof value === "bigint" || (typeof value === "number" && isRounded(value));
}

/** Whether `value` is a JSON object. */
export function isObject(value: Json | undefined): value is { [key: string]: Json };
export function isObject(value: ExactJson | undefined): value is { [key: string]: ExactJson };
export function isObject(value: ExactJson | undefined): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The JSON value of an output: a string is parsed, without the one code fence around it if there is one; anything
 * else is the value itself. Undefined where the string is not JSON, or nests deeper than MAX_DEPTH.
 * @example
 * readJson("```json\n{\"a\": 1}\n```") // { a: 1 }
 */
export function readJson(output: ExactJson): ExactJson | undefined {
  if (typeof output !== "string") return output;
  try {
    const value = parseExact(unfence(output.trim()));
    return depthWithin(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function unfence(text: string): string {
  const firstLine = text.indexOf("\n");
  const fenced = text.startsWith(FENCE) && text.endsWith(FENCE) && firstLine > 0;
  return fenced ? text.slice(firstLine + 1, -FENCE.length) : text;
}

/**
 * The JSON text of `value` with the keys of objects in order, so that equal values have equal texts.
 * @example
 * canonical({ b: 1, a: 2 }) // {"a":2,"b":1}
 */
export function canonical(value: ExactJson): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  // The digits that it was written with, be it as a double or not.
  if (isLarge(value)) return String(numeralOfNumber(value).integer ?? value);
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, child]) => `${JSON.stringify(key)}:${canonical(child)}`);
  return `{${members.toSorted().join(",")}}`;
}
