import type { Json } from "../../../../shared/grading/schema.ts";
import type { Instance } from "../../../../shared/templates/types.ts";

export { clockOf, minutesOf, permutations, subsets } from "../../catalogue/core-support.ts";
export { groups, numbers, only, parseCents, parseDay } from "../../catalogue/template-checks/support.ts";

/** What an agent is given of an instance or of a sample. */
export type Asked = Pick<Instance, "prompt" | "input" | "tools" | "output_schema">;

/**
 * Solves a template's instances and its sample from what is asked alone, without a line of the template's code; a list
 * of calls stands for an answer by tool calls. Throws where the text is not as expected, or has not one answer.
 */
export type Solver = (asked: Asked) => Json;

/** The input in the shape that the template documents; a wrong shape fails the solver's own computation. */
export function inputOf<T>({ input }: Asked): T {
  return JSON.parse(JSON.stringify(input));
}

/** The groups of every match, in order. */
export function allGroups(pattern: RegExp, text: string): string[][] {
  return [...text.matchAll(pattern)].map((match) => match.slice(1).map((group) => group ?? ""));
}
