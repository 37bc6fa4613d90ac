import { at } from "./json.ts";
import type { Statement } from "./trail.ts";

/**
 * Whom a statement is about, and what it says of a run, a sentence each: one that holds may be another's, of a run that failed,
 * or of the best of many that were shown to nobody.
 * @example
 * subjectOf(statement) // ["About Ada, urn:uuid:0198….", "Run 0198…: passed."]
 */
export function subjectOf({ credentialSubject }: Statement): string[] {
  const [id, name, run] = ["id", "name", "run.id"].map((path) => at(credentialSubject, path));
  const result = at(credentialSubject, "result.passed") === true ? "passed" : "not passed";
  const isPrivate = at(credentialSubject, "run.private") === true;
  return [
    ...(typeof name === "string" ? [`About ${name}, ${String(id)}.`] : []),
    ...(typeof run === "string" ? [`Run ${run}: ${result}.`] : []),
    ...(isPrivate ? ["The run is private: it counts for nothing, and there may be others that were not shown."] : []),
  ];
}
