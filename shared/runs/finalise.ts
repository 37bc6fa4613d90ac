import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { type Write, writeInTurn } from "../db/change.ts";
import { run_evidence, runs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { placeRun, stillLatest } from "../telemetry/collect.ts";
import { storeCells, storeEntries } from "../board/aggregates.ts";
import { oweEvents } from "./announcements.ts";
import type { Assessment } from "./assess.ts";
import { FOLLOW_UP, followUp } from "./follow-up.ts";
import { lockAgents } from "../agents/lock.ts";
import { markVerified } from "../agents/parts.ts";
import type { Answered } from "./load-answered.ts";
import type { Observation } from "./observe.ts";
import { appendPhases, type PhaseEvent } from "./phases.ts";
import type { Signed } from "./sign.ts";
import { VERIFIES } from "./verified.ts";

/** Everything that a run ends with. */
export interface Result {
  assessment: Assessment;
  observed: Observation;
  signed: Signed | null;
  at: Date;
}

/**
 * Ends a run, in one batch: its result, facts, evidence and architecture version, the agent's cells and board entries,
 * and what is announced of it. The agent's row is locked first, so that runs of one agent that end side by side sum up
 * one after the other. Returns whether it did: on a run that is final already nothing changes, nor, where versions shall
 * be minted `inOrder`, on one that would mint one while another was minted that it was not placed by.
 */
export async function finalise(ctx: Context, answered: Answered, result: Result, inOrder: boolean): Promise<boolean> {
  const { run, task } = answered;
  const counted = result.signed !== null && !run.is_private;
  const moves = counted || (run.simulated && !run.is_private && run.trigger !== "trial");
  const cells = { parts: sql`with cells as (${storeCells(run.agent_id, task.id, result.at)})` };
  const done = await writeInTurn(
    ctx,
    {
      lock: lockAgents(sql`select ${run.agent_id}::uuid`),
      parts: ending(answered, result, counted, inOrder),
      owes: FOLLOW_UP,
      select: sql`select to_jsonb(true) from done`,
      result: z.boolean(),
    },
    moves ? [cells, rescore(answered, result.at)] : [],
  );
  // A private run moves no numbers, but may make its agent a verified one.
  if (moves || result.signed !== null) ctx.cache.invalidate("board");
  return done !== null;
}

/** Sums up the entries of the agent, and announces a score that the run changed. */
function rescore({ run, task }: Answered, at: Date): Pick<Write<z.ZodType>, "parts" | "owes"> {
  const changed = sql`select agent_id, 'agent.score_updated' as type, jsonb_build_object('agent_id', agent_id,
      'previous_score', previous_score, 'score', score, 'run_id', ${run.id}::text) as data
    from stored where domain = 'all' and period = 'all' and score is distinct from previous_score`;
  const parts = sql`with stored as (
    ${storeEntries(run.agent_id, ["all", task.domain])}
    returning agent_id, domain, period, old.composite_score as previous_score, new.composite_score as score
  ), announced as (${oweEvents(changed, at)})`;
  return { parts, owes: ["announced"] };
}

/** SQL: ends the run, in the part `done`, which has a row if it did; `FOLLOW_UP` are its messages. */
function ending({ run, task }: Answered, result: Result, counted: boolean, inOrder: boolean): SQL {
  const { assessment, observed, signed, at } = result;
  const { cost } = assessment;
  const { placement } = observed;
  return sql`with open as (
    select r.id, r.agent_id, r.is_private from ${runs} r
    where r.id = ${run.id}::uuid and r.status = 'running' and r.answered_at is not null
      and ${inOrder && placement?.isNew === true ? stillLatest(placement) : sql`true`} for update
  ), ${placeRun("open", placement)}, done as (
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
      architecture_version = p.version, architecture_public_version = p.public_version,
      finalized_at = ${at.toISOString()}::timestamptz
    from placed p where r.id = p.id
    returning r.*
  ), proof as (
    insert into ${run_evidence} (run_id, jws, kid)
    select id, ${signed?.jws ?? null}, ${signed?.kid ?? null} from done where ${signed !== null}
  ), verified as (
    ${markVerified(sql`select r.agent_id from done r where ${VERIFIES}`)}
  ), facts as (${appendPhases(
    sql`select p.* from placed p join done d on d.id = p.id`,
    factsOf(result),
    at,
    sql`jsonb_build_object('architecture_compared', case when ${hasPredecessor(observed)}
      then jsonb_build_object('changed', x.changed, 'version', x.number) else '{}' end)`,
  )}), ${followUp("done", at)}`;
}

function factsOf({ assessment: { status, passed }, observed, signed }: Result): PhaseEvent[] {
  const graded = status === "completed";
  const { spans, architectureHash: hash } = observed;
  return [
    { phase: "output_evaluated", outcome: graded ? "succeeded" : "not_applicable", metadata: graded ? { passed } : {} },
    spans === 0
      ? { phase: "telemetry_collected", outcome: "unavailable" }
      : { phase: "telemetry_collected", outcome: "succeeded", metadata: { spans } },
    hash === null
      ? { phase: "architecture_hashed", outcome: "unavailable" }
      : { phase: "architecture_hashed", outcome: "succeeded", metadata: { architecture_hash: hash } },
    { phase: "architecture_compared", outcome: hasPredecessor(observed) ? "succeeded" : "not_applicable" },
    { phase: "scored", outcome: "succeeded" },
    { phase: "evidence_signed", outcome: signed === null ? "not_applicable" : "succeeded" },
  ];
}

/** Whether there is a version to compare with; there is none before the first. */
function hasPredecessor({ placement }: Observation): boolean {
  return placement !== null && placement.latest > 0;
}
