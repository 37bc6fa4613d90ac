import * as z from "zod";
import { OUTPUT_FORMATS } from "../db/schema/index.ts";
import { GRADER_TYPES } from "../grading/kinds.ts";
import { Instant } from "../platform/time.ts";
import { TaskDomain } from "./domains.ts";

export const TaskRead = z
  .object({
    id: z.uuid(),
    title: z.string(),
    domain: TaskDomain,
    instances: z.enum(["fixed", "minted"]).meta({
      description:
        "Whether every run is asked the same, or each an instance of its own. Of a minted task the sample is shown, which " +
        "no counted run gets: same story, other numbers, names and order. Of a secret one nothing is shown. All tasks of " +
        "the suite core and of the secret suites are minted.",
    }),
    template: z
      .object({ id: z.string(), version: z.int() })
      .nullable()
      .meta({ description: "What the instances of a minted task are drawn from" }),
    prompt: z.string().nullable().meta({ description: "Null for a secret task; of a minted one that of the sample" }),
    input: z.json().nullable().meta({ description: "Null for a secret task" }),
    output_format: z.enum(OUTPUT_FORMATS),
    output_schema: z.json().nullable().meta({ description: "Null for a secret task" }),
    tools: z.json().nullable().meta({ description: "Null for a secret task" }),
    grader_type: z.enum(GRADER_TYPES),
    suite_id: z.uuid().nullable(),
    suite_version: z.int(),
    is_active: z.boolean(),
    is_secret: z.boolean(),
    time_limit_ms: z.int(),
    reference_cost_usd: z.number(),
    reference_latency_ms: z.int(),
    expected_tool_calls: z.int().nullable(),
    pass_threshold: z.number(),
    created_at: Instant,
  })
  .meta({ id: "TaskRead" });

export const SuiteRead = z
  .object({
    id: z.uuid(),
    slug: z.string(),
    name: z.string(),
    description: z.string(),
    version: z.int(),
    is_secret: z.boolean(),
    task_count: z.int().meta({ description: "Active tasks" }),
    domains: z.array(TaskDomain),
  })
  .meta({ id: "SuiteRead" });
