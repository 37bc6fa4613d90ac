import { sql } from "drizzle-orm";
import { agents, run_evidence, runs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { storeCells, storeEntries } from "./aggregates.ts";
import type { Assessment } from "./assess.ts";
import type { Answered } from "./load.ts";
import { appendPhases, type PhaseEvent } from "./phases.ts";
import type { Signed } from "./sign.ts";

/**
 * Ends a run, in one batch: its result, facts and evidence, and the agent's cells and board entries. The agent's row is
 * locked first, so that runs of one agent that end side by side sum up one after the other. On a run that is final
 * already nothing changes.
 */
export async function finalise(
  ctx: Context,
  answered: Answered,
  assessment: Assessment,
  signed: Signed | null,
  at: Date,
): Promise<void> {
  const { run, task } = answered;
  const counted = signed !== null && !run.is_private;
  const { cost } = assessment;
  const update = sql`with done as (
    update ${runs} r set status = ${assessment.status}, passed = ${assessment.passed}, correctness = ${assessment.correctness},
      explanation = ${assessment.explanation}, axes = ${JSON.stringify(assessment.axes)}::jsonb,
      tool_calls_made = ${assessment.tool_calls_made}::integer, suite_id = ${task.suite_id}::uuid,
      suite_version = ${task.suite_version}::integer, evidence_cost_usd = ${cost.evidence_cost_usd}::numeric,
      evidence_cost_source = ${cost.evidence_cost_source}, evidence_cost_partial = ${cost.evidence_cost_partial},
      evidence_priced_call_count = ${cost.evidence_priced_call_count},
      evidence_unpriced_call_count = ${cost.evidence_unpriced_call_count},
      evidence_total_call_count = ${cost.evidence_total_call_count}, total_cost_usd = ${cost.total_cost_usd}::numeric,
      serving_model = ${cost.serving_model}, input_tokens = ${cost.input_tokens}::bigint,
      output_tokens = ${cost.output_tokens}::bigint, evidence_signed = ${signed !== null}, counted = ${counted},
      awaiting_callback = false, callback_hash = null, lease_token = null, lease_expires_at = null,
      finalized_at = ${at.toISOString()}::timestamptz
    where r.id = ${run.id}::uuid and r.status = 'running' and r.answered_at is not null
    returning r.id, r.agent_id
  ), proof as (
    insert into ${run_evidence} (run_id, jws, kid)
    select id, ${signed?.jws ?? null}, ${signed?.kid ?? null} from done where ${signed !== null}
  ), verified as (
    update ${agents} a set verified_state = 'verified' from done
    where a.id = done.agent_id and ${counted} and a.verified_state = 'unverified'
  ) ${appendPhases(sql`select id from done`, factsOf(assessment, signed), at)}`;
  const lock = sql`select from ${agents} where id = ${run.agent_id}::uuid for no key update`;
  const moves = counted || (run.simulated && !run.is_private && run.trigger !== "trial");
  if (!moves) {
    await ctx.db.execute(update);
    return;
  }
  await ctx.db.batch([
    ctx.db.execute(lock),
    ctx.db.execute(update),
    ctx.db.execute(storeCells(run.agent_id, task.id, at)),
    ctx.db.execute(storeEntries(run.agent_id, ["all", task.domain])),
  ]);
  ctx.cache.invalidate("board");
}

function factsOf({ status, passed }: Assessment, signed: Signed | null): PhaseEvent[] {
  const graded = status === "completed";
  return [
    { phase: "output_evaluated", outcome: graded ? "succeeded" : "not_applicable", metadata: graded ? { passed } : {} },
    { phase: "telemetry_collected", outcome: "unavailable" },
    { phase: "architecture_hashed", outcome: "unavailable" },
    { phase: "architecture_compared", outcome: "not_applicable" },
    { phase: "scored", outcome: "succeeded" },
    { phase: "evidence_signed", outcome: signed === null ? "not_applicable" : "succeeded" },
  ];
}
