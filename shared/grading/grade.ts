import { type ExactJson, stringifyExact } from "../platform/exact-json.ts";
import { graderOf } from "./graders.ts";
import { MAX_DEPTH, depthWithin, holdsRounded } from "./json.ts";
import { inPlainWriting, plainMinus, withoutTicks } from "./plain.ts";
import type { GraderType, Json } from "./schema.ts";
import { clip, isBlank } from "./text.ts";
import {
  type Answer,
  type GraderVersion,
  type GradingTask,
  type Outcome,
  type TaskKey,
  type Verdict,
  isSince,
  unreadable,
} from "./types.ts";

export { GRADER_VERSIONS, isSince } from "./types.ts";
export type { Answer, GraderVersion, GradingTask, Verdict } from "./types.ts";

/** The version of the grading rules; it stands in the signed evidence and grows whenever a rule changes. */
export const GRADER_VERSION = "11" satisfies GraderVersion;

/** Longest explanation, in UTF-16 code units. */
export const MAX_EXPLANATION_LENGTH = 1000;

/** These read more of an answer than its output, so an empty output does not settle them. */
const NOT_BY_OUTPUT_ALONE: ReadonlySet<GraderType> = new Set(["tool_calls", "refusal"]);

/** To these null is a value like any other; to the rest it says nothing. */
const TAKING_NULL: ReadonlySet<GraderType> = new Set(["json_schema"]);

/** So little below the threshold is the rounding of a share such as 0.1 + 0.2. */
const ROUNDING = 1e-9;

/**
 * Grades one answer by the rules of `version`: deterministic, without clock or network, in time bounded for an answer of up to 1 MiB, whatever
 * it holds. The explanation of a secret task depends on the answer, the grader's type and the verdict alone, never on
 * the key or the grader's options.
 * @throws TypeError only for a task in which `checkTask` finds issues
 * @example
 * grade({ grader: { type: "numeric", tolerance: 0.1 }, expected_output: 42, output_schema: null, pass_threshold: 0.5,
 *   is_secret: false }, { output: "The answer is 42." })
 * // { correctness: 1, passed: true, explanation: "The answer was read as 42, which is the expected number …" }
 */
export function grade(task: GradingTask, answer: Answer, version: GraderVersion = GRADER_VERSION): Verdict {
  const outcome = outcomeOf(task, answer, version);
  const passed = outcome.correctness >= task.pass_threshold - ROUNDING;
  const explanation = task.is_secret && !outcome.keyFree ? secretExplanation(passed) : outcome.explanation;
  return { correctness: outcome.correctness, passed, explanation: clip(explanation, MAX_EXPLANATION_LENGTH) };
}

type Given = Answer & { output: ExactJson };

function outcomeOf(task: GradingTask, answer: Answer, version: GraderVersion): Outcome {
  const { type } = task.grader;
  const { output } = answer;
  const said =
    typeof output === "string" && version !== "3" && version !== "4"
      ? inPlainWriting(type, output, version)
      : inPlainItems(type, output, version);
  const isNull = said === null && TAKING_NULL.has(type) && version !== "3";
  if (!NOT_BY_OUTPUT_ALONE.has(type) && isBlank(said) && !isNull) return unreadable("The answer is empty.");
  const given = { ...answer, output: said ?? null };
  if (!depthWithin(given.output)) return unreadable(`The answer nests more than ${MAX_DEPTH} levels deep.`);
  return graderOf(type).grade(inPlainKey(task, version), asKnown(task, given), version);
}

/** A set of texts that came as JSON, as it would be read from its text. */
function inPlainItems(type: GraderType, output: ExactJson | undefined, version: GraderVersion): ExactJson | undefined {
  if (type !== "set_f1" || !Array.isArray(output) || !isSince(version, "7")) return output;
  return output.map((item) => (typeof item === "string" ? plainMinus(item) : item));
}

/** `task` with what is compared as text as the answer is read, whichever dash it writes for a minus. */
function inPlainKey(task: TaskKey, version: GraderVersion): TaskKey {
  const { grader, expected_output: key } = task;
  if (!isSince(version, "7")) return task;
  const bare = grader.type === "normalized_text" && isSince(version, "10") ? withoutTicks : String;
  const plain = (value: Json) => (typeof value === "string" ? plainMinus(bare(value)) : value);
  const isText = grader.type === "normalized_text" || grader.type === "set_f1" || grader.type === "multiple_choice";
  if (!isText) return task;
  return {
    ...task,
    grader: grader.type === "multiple_choice" ? { ...grader, choices: grader.choices.map(plainMinus) } : grader,
    expected_output: Array.isArray(key) ? key.map(plain) : plain(key),
  };
}

/**
 * The answer as it compares with the key. Where a number of the key is beyond 2^53, its last digits may be lost: the answer's
 * are given up, too. Only keys of before, and those with a tolerance that makes up for it, hold one as a JSON number.
 */
function asKnown({ grader, expected_output, output_schema }: GradingTask, answer: Given): Given {
  const isExact = !holdsRounded(expected_output) && !(grader.type === "json_schema" && holdsRounded(output_schema));
  if (isExact) return answer;
  const { output, tool_calls } = answer;
  const calls = tool_calls?.map((call) => ({ ...call, arguments: rounded(call.arguments) }));
  return { ...answer, output: rounded(output), ...(calls === undefined ? {} : { tool_calls: calls }) };
}

function rounded(value: ExactJson): ExactJson {
  // No grader reads what is deeper.
  return depthWithin(value) ? JSON.parse(stringifyExact(value)) : value;
}

function secretExplanation(passed: boolean): string {
  return passed
    ? "The answer passed. The task is secret: what was expected is not shown."
    : "The answer did not pass. The task is secret: what was expected is not shown.";
}
