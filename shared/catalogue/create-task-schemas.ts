import * as z from "zod";
import { OUTPUT_FORMATS } from "../db/schema/index.ts";
import { graderSchema } from "../grading/schema.ts";
import { atMost } from "../platform/json-size.ts";
import { TaskDomain } from "./domains.ts";
import { TaskRead } from "./shown.ts";

/** What a sensible agent spends on a task, where nobody says better: the medians of the shipped suites. */
export const DEFAULT_REFERENCES = { reference_cost_usd: 0.004, reference_latency_ms: 6000 };

const KIB = 1024;

const Tool = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, "Use 1 to 64 letters, digits, _, . and -."),
  description: z.string().max(2000),
  parameters: z.record(z.string(), z.json()).meta({ description: "JSON Schema 2020-12 of its arguments" }),
});

/** The members of a task that whoever proposes one gives. */
export const content = {
  title: z
    .string()
    .trim()
    .min(1)
    .max(200)
    // Not by a pattern: clients check those of the document, and the expressions of many languages know no such class.
    .refine((title) => !/\p{Cc}/u.test(title), {
      params: { code: "invalid_format" },
      error: "Keep the title on one line, without control characters.",
    })
    .meta({ description: "Public, also of a secret task: it should not give the answer away" }),
  domain: TaskDomain,
  prompt: z
    .string()
    .max(32 * KIB)
    .regex(/\S/, "Say what is to be done.")
    .meta({ description: "All that the agent is told, beside `input` and `tools`" }),
  input: z.json().check(atMost(64)).default(null).meta({ description: "JSON supplied to the agent, at most 64 KiB" }),
  output_format: z.enum(OUTPUT_FORMATS).default("text"),
  output_schema: z
    .json()
    .check(atMost(32))
    .default(null)
    .meta({
      description:
        "JSON Schema 2020-12 of the output. `$ref` leads to `#` or `#/$defs/…` alone; patterns are in RE2 syntax, at most 100 " +
        "in it and in the `tools`",
    }),
  tools: z
    .array(Tool)
    .max(64)
    .refine((tools) => new Set(tools.map(({ name }) => name)).size === tools.length, {
      message: "Give each tool a name of its own.",
      params: { code: "not_unique" },
    })
    .check(atMost(64))
    .nullable()
    .default(null),
  grader: graderSchema
    .check(atMost(32))
    .meta({ id: "Grader", description: "How an answer is judged: a type, and that type's options" }),
  expected_output: z
    .json()
    .check(atMost(32))
    .optional()
    .nonoptional()
    .meta({
      description:
        "The key, in the grader's form; null for `regex`, `json_schema` and `constraints`. A whole number beyond 2^53 as a " +
        "string of its digits: an answer may give it as a number, too",
    }),
  time_limit_ms: z.int().min(1000).max(120_000).default(60_000),
  expected_tool_calls: z.int().min(0).max(1000).nullable().default(null).meta({
    description: "How many tool calls a good answer takes; null: the task says nothing about tool efficiency",
  }),
  pass_threshold: z
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .meta({ description: "The correctness from which an answer passes" }),
};

/** The members of a task that its publisher gives besides. */
export const references = {
  suite_id: z.uuid().optional().meta({ description: "The suite at whose end it stands; without one, in none" }),
  is_secret: z.boolean().optional().meta({ description: "Default: as its suite; else false" }),
  reference_cost_usd: z.number().positive().max(1000).default(DEFAULT_REFERENCES.reference_cost_usd),
  reference_latency_ms: z.int().min(1).max(120_000).default(DEFAULT_REFERENCES.reference_latency_ms),
};

/** What a task's content says, once it is validated. */
export type Content = z.output<z.ZodObject<typeof content>>;

export const TaskAdminRead = TaskRead.extend({
  prompt: z.string(),
  grader: z
    // No second list of the types: generators of clients name it as they name that of `grader_type`.
    .object({ type: z.string() })
    .catchall(z.json())
    .meta({ description: "Of a secret task the type alone: its options may say what the key is" }),
  expected_output: z.json().meta({ description: "Null for a secret task" }),
}).meta({ id: "TaskAdminRead" });

export const SuiteCreate = z
  .strictObject({
    slug: z
      .string()
      .max(64)
      .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, "Use lower-case letters and digits, parted by single hyphens."),
    name: z.string().trim().min(1).max(120),
    description: z.string().max(2000).default(""),
    is_secret: z.boolean().default(false).meta({ description: "Whether all of its tasks are secret" }),
  })
  .meta({ id: "SuiteCreate" });

export const TaskRetireResult = z
  .object({
    task_id: z.uuid(),
    is_active: z.literal(false),
    was_active: z.boolean().meta({ description: "Whether this call retired it" }),
  })
  .meta({ id: "TaskRetireResult" });
