import type { ExactJson } from "../platform/exact-json.ts";
import type { GraderOf, GraderType, Json } from "./schema.ts";

export type { Json } from "./schema.ts";

/**
 * The versions of the grading rules that are kept, so that what was signed by them can be graded again. "3" took an output
 * of null for none; until "4" answers were read without `inPlainWriting`, and "5" to "7" without what it does since. Until
 * "6" what `unordered` arrays of `json_fields` hold besides numbers had to be equal to the last digit. Until "9" what led to an
 * answer of A2A was a part of it, though it was marked as none. Until "10" calls of tools that its text holds were none, texts
 * that look the same could differ, and a number that an answer rules out, or leaves open, was its number. Until "11" backticks
 * around an item of a list, and the "and" before it, were parts of it, the text "null" stood for no lack of arguments, and of the
 * ends of a chat completion that says nothing only `content_filter` was a refusal.
 */
export const GRADER_VERSIONS = ["3", "4", "5", "6", "7", "8", "9", "10", "11"] as const;
export type GraderVersion = (typeof GRADER_VERSIONS)[number];

/** Whether a version has the rules that came with `first`. */
export function isSince(version: GraderVersion, first: GraderVersion): boolean {
  return GRADER_VERSIONS.indexOf(version) >= GRADER_VERSIONS.indexOf(first);
}

/**
 * What an agent answered. An output of null is not a missing one; `tool_calls` are in the order in which they were made.
 * Whole numbers beyond 2^53 are bigints.
 */
export interface Answer {
  output?: ExactJson;
  refused?: boolean;
  tool_calls?: { name: string; arguments: ExactJson }[];
}

/** The parts of a task that say what a right answer is. */
export interface TaskKey<T extends GraderType = GraderType> {
  grader: GraderOf<T>;
  expected_output: Json;
  output_schema: Json | null;
}

/** The parts of a task that grading needs. `pass_threshold` is a correctness in 0..1. */
export interface GradingTask extends TaskKey {
  pass_threshold: number;
  is_secret: boolean;
}

/** The result of grading: a correctness in 0..1, and at most 1000 characters for the agent's owner. */
export interface Verdict {
  correctness: number;
  passed: boolean;
  explanation: string;
}

/** A fault in a task; `pointer` is an RFC 6901 JSON pointer into the task's body, `message` says what to do. */
export interface Issue {
  pointer: string;
  code: "invalid_key" | "invalid_option" | "invalid_pattern" | "invalid_schema";
  message: string;
}

/** What a grader found. `keyFree`: the explanation follows from the answer and the grader's type alone. */
export interface Outcome {
  correctness: number;
  explanation: string;
  keyFree?: true;
}

/** One type of grader. `grade` may rely on `check` having found nothing in the task; a missing output comes to it as null. */
export interface GraderModule<T extends GraderType> {
  check(task: TaskKey<T>): Issue[];
  grade(task: TaskKey<T>, answer: Answer & { output: ExactJson }, version: GraderVersion): Outcome;
}

/** An issue of the key, at `/expected_output` or below it. */
export function keyIssue(message: string, ...below: (string | number)[]): Issue {
  return { pointer: pointer("expected_output", ...below), code: "invalid_key", message };
}

/**
 * The RFC 6901 JSON pointer of the path `segments`.
 * @example
 * pointer("a/b", 0) // "/a~1b/0"
 */
export function pointer(...segments: (string | number)[]): string {
  return segments.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** The outcome for an answer that the grader cannot read; `reason` must not depend on the key. */
export function unreadable(reason: string): Outcome {
  return { correctness: 0, explanation: reason, keyFree: true };
}
