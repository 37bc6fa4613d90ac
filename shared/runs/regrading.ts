import { Buffer } from "node:buffer";
import * as z from "zod";

const base64 = z
  .string()
  .max(1_398_104, "An answer has at most 1 MiB.")
  .refine((text) => Buffer.from(text, "base64").toString("base64") === text, {
    error: "Write it in base64 with its padding.",
    params: { code: "invalid_format" },
  });
const hex = z.string().regex(/^[0-9a-f]{64}$/i, "Write 32 bytes as 64 hexadecimal digits.");

/** What a run is graded again from. */
export const RegradeRequest = z
  .strictObject({
    jws: z.string().max(65_536).meta({ description: "The signed statement of the run" }),
    epoch_secret: hex.meta({ description: "The secret of the epoch that the statement names, in hex" }),
    response_base64: base64.nullable().meta({ description: "What the agent answered; null where nothing came" }),
    response_salt: hex.nullable().meta({ description: "The salt of the commitment to it, in hex; null with it" }),
  })
  .meta({ id: "EvidenceRegradeRequest" });

/** What grading a run again finds. */
export const Regraded = z
  .object({
    valid: z.boolean().meta({ description: "Whether the statement's signature and form hold" }),
    instance_matches: z.boolean().meta({
      description: "Whether the instance that is drawn from the secret is the one that the statement commits to",
    }),
    response_matches: z.boolean().meta({ description: "Whether the answer is the one that the statement commits to" }),
    correctness: z
      .number()
      .nullable()
      .meta({ description: "0 to 1, as found now; null unless statement, instance and answer all hold" }),
    passed: z.boolean().nullable(),
    agrees: z.boolean().meta({ description: "Whether the statement says the same" }),
  })
  .meta({ id: "EvidenceRegrading" });

/** Why a genuine statement can't be graded again. */
export const UNREGRADABLE = {
  no_run: "This statement is about no run; send the `jws` of GET /api/v1/runs/{run_id}/evidence.",
  secret_task: "The run was of a secret task; the secrets that these are drawn from are never published.",
  fixed_task:
    "The run was of a task with a fixed text, which no epoch's secret draws; only minted tasks can be graded again.",
  other_rules: "The run was graded by other rules than those that are kept here, as its `grader_version` says.",
  other_template: "The run's template has another version by now, and the one of the statement is not kept here.",
} as const;
export type Unregradable = keyof typeof UNREGRADABLE;

/** What comes of grading a run again. */
export type Regrading =
  | { status: "refused"; reason: Unregradable }
  | { status: "regraded"; result: z.output<typeof Regraded> };
