import type { Grader } from "../../grading/schema.ts";

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A tool that the task offers to the agent; `parameters` is a JSON Schema object (2020-12). */
export interface SeedTool {
  name: string;
  description: string;
  parameters: { [key: string]: Json };
}

/** The ten domains of the catalogue. */
export type SeedDomain =
  | "reasoning"
  | "math"
  | "coding"
  | "data_extraction"
  | "tool_use"
  | "instruction_following"
  | "planning"
  | "retrieval"
  | "safety"
  | "robustness";

/** A task as it ships with the service: the fields of TaskCreate, a stable slug, and answers that must not pass. */
export interface SeedTask {
  slug: string;
  title: string;
  domain: SeedDomain;
  prompt: string;
  input?: Json;
  output_format: "text" | "json" | "tool_calls";
  output_schema?: { [key: string]: Json };
  tools?: SeedTool[];
  grader: Grader;
  expected_output: Json;
  time_limit_ms: number;
  reference_cost_usd: number;
  reference_latency_ms: number;
  expected_tool_calls?: number;
  pass_threshold?: number;
  /** Plausible wrong outputs (the traps); the tests show that each of them fails. */
  wrong_answers: Json[];
}

/** A suite as it ships with the service. */
export interface SeedSuite {
  slug: string;
  name: string;
  description: string;
  tasks: SeedTask[];
}
