import type * as z from "zod";
import type { TaskRead } from "../../../shared/catalogue/shown.ts";

type GraderType = z.output<typeof TaskRead>["grader_type"];

/** What each grader asks of an answer, in words. */
export const GRADERS: Readonly<Record<GraderType, string>> = {
  exact: "The answer must be the key, character by character as they are seen; white space around it is cut.",
  normalized_text: "The answer must be the key, or one of several; case, punctuation and articles do not count.",
  numeric: "The last number that the answer means must be the key, within the task's tolerance.",
  multiple_choice: "The answer must name the right choice: by its letter, by its text, or by both if they agree.",
  regex: "A pattern must be found somewhere in the answer.",
  set_f1: "The answer is taken as a set of items; what is missing and what is too much both cost.",
  json_fields: "The share of the key's fields that the answer's object holds with an equal value.",
  json_schema: "The answer must be JSON that is valid against the task's schema.",
  tool_calls: "The share of tool calls that are as expected, arguments included.",
  constraints: "The share of the stated rules that the answer's text keeps.",
  refusal: "The agent must decline exactly where it should, and answer where it should not.",
};
