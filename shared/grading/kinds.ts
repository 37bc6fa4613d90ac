import type { GraderType } from "./schema.ts";

/** The kinds of graders, for what tells of one without reading it: the schema of them all takes long to build. */
export const GRADER_TYPES = {
  exact: "exact",
  normalized_text: "normalized_text",
  numeric: "numeric",
  multiple_choice: "multiple_choice",
  regex: "regex",
  set_f1: "set_f1",
  json_fields: "json_fields",
  json_schema: "json_schema",
  tool_calls: "tool_calls",
  constraints: "constraints",
  refusal: "refusal",
} as const satisfies { [T in GraderType]: T };
