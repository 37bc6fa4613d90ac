import * as z from "zod";
import type { ExactJson } from "../platform/exact-json.ts";
import { canonical, depthWithin, isLarge, isObject } from "./json.ts";
import { type Matching, maximumInOrderMatching, maximumMatching } from "./matching.ts";
import { listSome, normalizeText, quote } from "./text.ts";
import { type Answer, type GraderModule, type Issue, keyIssue, unreadable } from "./types.ts";

/** Most calls that a key may expect. */
const MAX_EXPECTED_CALLS = 100;

/** Most calls of an answer that are matched; an agent that makes more has lost its way. */
const MAX_MADE_CALLS = 1000;

const expectedCalls = z
  .array(
    z.strictObject({
      name: z.string().min(1, "Give the tool's name."),
      arguments: z.record(z.string(), z.array(z.json()).min(1, "List at least one allowed value.")),
    }),
  )
  .max(MAX_EXPECTED_CALLS);

/**
 * The share of calls that are as expected. A call is: the tool's name, each argument among its allowed values (strings
 * by `normalizeText`, lists in order; whole numbers beyond 2^53 equal strings of their digits), no other argument, one
 * left out only where null is allowed. Calls are paired so that most match, keeping their order when `order` is strict.
 * The share is of max(expected, made) calls, with `allow_extra` of the expected ones; no call where none is expected is 1.
 */
export const toolCalls: GraderModule<"tool_calls"> = {
  check({ expected_output: key }) {
    const parsed = expectedCalls.safeParse(key);
    if (parsed.success) return [];
    return parsed.error.issues.map(({ path, message }): Issue => {
      const form = "Give a list of {name, arguments: {argument: [allowed values]}}";
      return keyIssue(`${form}. ${message}`, ...path.map((part) => (typeof part === "symbol" ? String(part) : part)));
    });
  },

  grade({ grader, expected_output }, answer) {
    const expected = expectedCalls.parse(expected_output).map(toExpected);
    const made = answer.tool_calls ?? [];
    if (made.length > MAX_MADE_CALLS) return unreadable(`The agent made more than ${MAX_MADE_CALLS} tool calls.`);
    if (!made.every((call) => depthWithin(call.arguments))) {
      return unreadable("A tool call's arguments nest too deeply.");
    }
    const calls = made.map(toMade);
    const fits = expected.map((want) => calls.map((call) => isExpected(want, call)));
    const match = grader.order === "strict" ? maximumInOrderMatching : maximumMatching;
    const matching = match(expected.length, calls.length, (left, right) => fits[left]?.[right] ?? false);
    const matched = matching.filter((index) => index >= 0).length;
    const total = grader.allow_extra ? expected.length : Math.max(expected.length, calls.length);
    return { correctness: total === 0 ? 1 : matched / total, explanation: explain(expected, calls, matching, matched) };
  },
};

/** A call that is expected: for each argument the comparable forms of its allowed values. */
interface Expected {
  name: string;
  allowed: Map<string, Set<string>>;
}

/** A call that was made: for each argument its comparable form; null where `arguments` is not an object. */
interface Made {
  name: string;
  given: Map<string, string> | null;
}

function toExpected(call: z.infer<typeof expectedCalls>[number]): Expected {
  const allowed = Object.entries(call.arguments).map(
    ([name, values]) => [name, new Set(values.map(comparable))] as const,
  );
  return { name: call.name, allowed: new Map(allowed) };
}

function toMade(call: NonNullable<Answer["tool_calls"]>[number]): Made {
  if (!isObject(call.arguments)) return { name: call.name, given: null };
  const given = Object.entries(call.arguments).map(([name, value]) => [name, comparable(value)] as const);
  return { name: call.name, given: new Map(given) };
}

/** A text that is equal for equal arguments. */
function comparable(value: ExactJson): string {
  return canonical(normalized(value));
}

function normalized(value: ExactJson): ExactJson {
  if (typeof value === "string") return normalizeText(value);
  if (isLarge(value)) return canonical(value);
  if (Array.isArray(value)) return value.map(normalized);
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, normalized(item)]))
    : value;
}

function isExpected(want: Expected, call: Made): boolean {
  // More arguments than are known: the size alone decides, however many a hostile agent sends.
  if (want.name !== call.name || (call.given?.size ?? 0) > want.allowed.size) return false;
  return faultyArguments(want, call).length === 0;
}

/** The names of the arguments that keep `call` from being the expected one. */
function faultyArguments({ allowed }: Expected, { given }: Made): string[] {
  if (given === null) return ["arguments"];
  const unknown = [...given.keys()].filter((name) => !allowed.has(name));
  const wrong = [...allowed].filter(([name, values]) => !values.has(given.get(name) ?? "null")).map(([name]) => name);
  return [...wrong, ...unknown];
}

function explain(expected: Expected[], calls: Made[], matching: Matching, matched: number): string {
  const used = new Set(matching);
  const spare = calls.filter((_, index) => !used.has(index));
  const unmatched = expected
    .filter((_, index) => matching[index] === -1)
    .slice(0, 5)
    .map((want) => {
      const closest = spare.find((call) => call.name === want.name);
      if (closest === undefined) return `${quote(want.name)} was not called`;
      const faulty = faultyArguments(want, closest);
      return `${quote(want.name)} ${faulty.length > 0 ? `differs in ${listSome(faulty, quote)}` : "came out of order"}`;
    });
  const surplus = unmatched.length === 0 && spare.length > 0;
  return [
    `${matched} of ${expected.length} expected calls were made, of ${calls.length} calls in all.`,
    ...unmatched.map((text) => `${text}.`),
    ...(surplus ? [`Not expected: ${listSome(spare, (call) => quote(call.name))}.`] : []),
  ].join(" ");
}
