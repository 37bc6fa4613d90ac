import type { Json } from "../../../grading/schema.ts";

/** One call of a tool. */
export type Call = { name: string; arguments: { [argument: string]: Json } };

/** The key that takes these calls alone: each argument with its one value. */
export function keyOfCalls(calls: readonly Call[]): Json {
  return calls.map(({ name, arguments: given }) => ({
    name,
    arguments: Object.fromEntries(Object.entries(given).map(([argument, value]) => [argument, [value]])),
  }));
}

/** The lists of calls that differ from the right one, as `wrong_answers`. */
export function unlike(right: readonly Call[], wrong: readonly (readonly Call[])[]): Json[] {
  const written = JSON.stringify(right);
  return wrong.filter((calls) => JSON.stringify(calls) !== written).map((calls) => [...calls]);
}
