import { graderOf } from "./graders.ts";
import { MAX_DEPTH, depthWithin } from "./json.ts";
import type { Grader, Json } from "./schema.ts";
import { type Issue, keyIssue } from "./types.ts";

export type { Issue } from "./types.ts";

/** The parts of a task's body that must fit together before anything can be graded by them. */
export interface CheckedTask {
  grader: Grader;
  expected_output: Json;
  output_schema?: Json | null;
}

/**
 * What keeps a task from being graded: a key that does not fit its grader, options that contradict each other, a
 * pattern or an output schema that cannot be used. Empty where `grade` can be relied on. Issues say what to do.
 * @example
 * checkTask({ grader: { type: "numeric" }, expected_output: "many" })
 * // [{ pointer: "/expected_output", code: "invalid_key", message: "Give a number, or a string that is one number, …" }]
 */
export function checkTask({ grader, expected_output, output_schema = null }: CheckedTask): Issue[] {
  if (!depthWithin(expected_output)) return [keyIssue(`Nest the key at most ${MAX_DEPTH} deep.`)];
  return graderOf(grader.type).check({ grader, expected_output, output_schema });
}
