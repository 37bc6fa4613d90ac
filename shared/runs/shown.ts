import * as z from "zod";
import { Axes } from "../board/axes.ts";
import { RUN_STATES, TRIGGERS } from "../db/schema/index.ts";
import { Instant } from "../platform/time.ts";

export const RunStatus = z.enum(RUN_STATES).meta({ id: "RunStatus" });
export const Trigger = z.enum(TRIGGERS).meta({ id: "Trigger" });

const share = z.number().min(0).max(1).nullable();

export const CostSource = z.enum([
  "self_reported",
  "estimated",
  "mixed",
  "unpriced",
  "runner_aggregate",
  "unavailable",
]);

export const RunRead = z
  .object({
    id: z.uuid(),
    agent_id: z.uuid(),
    task_id: z.uuid(),
    status: RunStatus,
    trigger: Trigger,
    simulated: z.boolean(),
    screening_session_id: z.uuid().nullable(),
    repeat_index: z.int().nullable(),
    repeat_total: z.int().nullable(),
    scope: z.enum(["personal", "team"]).optional().meta({ description: "Owner or member only" }),
    team_id: z.uuid().nullable().optional().meta({ description: "Owner or member only" }),
    suite_id: z.uuid().nullable(),
    suite_version: z.int().nullable().meta({
      description:
        "In force when the run was finalised; of one that was cancelled, or failed by our fault, where it counts as asked, since a later one of its task had been",
    }),
    passed: z.boolean().nullable(),
    correctness: share,
    axes: Axes.nullable(),
    latency_ms: z.int().nullable(),
    tool_calls_made: z.int().nullable(),
    failure_code: z.string().nullable(),
    failure_detail: z.string().nullable().optional().meta({ description: "Owner or member only" }),
    evidence_cost_usd: z.number().nullable(),
    evidence_cost_source: CostSource,
    evidence_cost_partial: z.boolean(),
    evidence_priced_call_count: z.int(),
    evidence_unpriced_call_count: z.int(),
    evidence_total_call_count: z.int(),
    evidence_cost_floor_applied: z.boolean().meta({
      description:
        "At least one call was reported below a tenth of its model's list price for the tokens that the task must at least hold, and is taken at that",
    }),
    total_cost_usd: z.number().nullable(),
    serving_model: z.string().nullable(),
    input_tokens: z.int().nullable(),
    output_tokens: z.int().nullable(),
    architecture_version: z.int().nullable().meta({
      description:
        "The version of the agent's architecture that the run belongs to, by its telemetry; null without. The owner and members count over all runs, others over public runs alone",
    }),
    evidence_signed: z.boolean().meta({
      description: "Of a run whose `canary` is null: once its session is final",
    }),
    canary: z
      .boolean()
      .nullable()
      .meta({
        description:
          "Whether it was asked the sample of its task, to see if that was learned by heart: not counted, not signed, its " +
          "allowance given back. Null while its session may have canaries and is not final.",
      }),
    is_private: z.boolean().meta({
      description:
        "It is shown to the agent's owner, its members and who asked for it alone, and counts for nothing; its statement says so",
    }),
    created_at: Instant,
    started_at: Instant.nullable(),
    finalized_at: Instant.nullable(),
  })
  .meta({ id: "RunRead" });
