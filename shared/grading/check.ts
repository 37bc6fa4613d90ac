import { graderOf } from "./graders.ts";
import { MAX_DEPTH, depthWithin, roundedIn } from "./json.ts";
import { fieldOptions } from "./json_fields.ts";
import type { Grader, Json } from "./schema.ts";
import { type Issue, keyIssue } from "./types.ts";

const LOST_DIGITS = "Give so large a number as a string: as a JSON number its last digits are lost.";

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
  const issues = graderOf(grader.type).check({ grader, expected_output, output_schema });
  return issues.length > 0 ? issues : lostDigits(grader, expected_output);
}

/** Numbers of a key that a double can't tell from their neighbours, where no tolerance makes up for that. */
function lostDigits(grader: Grader, key: Json): Issue[] {
  return [...roundedIn(key)]
    .filter(([path, number]) => toleranceAt(grader, path[0], number) < Math.abs(number) * Number.EPSILON)
    .map(([path]) => keyIssue(LOST_DIGITS, ...path));
}

/** How far an answer may be from `number`, which stands in the field `name` of the key. */
function toleranceAt(grader: Grader, name: string | number | undefined, number: number): number {
  if (grader.type === "numeric") return (grader.tolerance ?? 0) * (grader.relative ? Math.abs(number) : 1);
  return grader.type === "json_fields" ? (fieldOptions(grader.fields, String(name))?.tolerance ?? 0) : 0;
}
