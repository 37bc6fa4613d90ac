import * as z from "zod";

/** The ten domains of the catalogue. */
export const DOMAINS = [
  "reasoning",
  "math",
  "coding",
  "data_extraction",
  "tool_use",
  "instruction_following",
  "planning",
  "retrieval",
  "safety",
  "robustness",
] as const;

export const TaskDomain = z.enum(DOMAINS).meta({ id: "TaskDomain" });
