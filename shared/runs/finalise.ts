import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { idsOf } from "../db/ids.ts";
import { type Moment, momentSql } from "../db/instant.ts";
import { inSeries, kept, unkept, writeKept, writeSeries } from "../db/kept.ts";
import { takeBack } from "../db/owed.ts";
import { run_evidence, runs } from "../db/schema/index.ts";
import { storableJson } from "../db/storable-json.ts";
import type { Step } from "../db/written.ts";
import type { Context } from "../platform/context.ts";
import { placeRun, stillLatest } from "../telemetry/collect.ts";
import { logEntry, logged, sha256Hex } from "../transparency/logged.ts";
import type { Assessment } from "./assess.ts";
import { FOLLOW_UP, followUp } from "./follow-up.ts";
import { LOCK_AGENTS, lockAgents } from "../agents/lock.ts";
import { markVerified } from "../agents/parts.ts";
import { holdResults, signing } from "./held.ts";
import type { Answered } from "./load-answered.ts";
import type { Observation } from "./observe.ts";
import { appendFacts, type PhaseEvent, toFacts } from "./phases.ts";
import type { Signed } from "./sign.ts";
import { RESCORE, SUM_UP } from "./sum-up.ts";
import { VERIFIES } from "./verified.ts";

/** A run, and everything that it ends with. */
export interface Ended {
  answered: Answered;
  assessment: Assessment;
  observed: Observation;
  signed: Signed | null;
}

/**
 * Ends runs, in one round trip: their results, facts and evidence, which the log names, and once for all their agents' cells and board
 * entries, and what is announced. The agents' rows are locked first, so that groups with runs of one agent that end side
 * by side sum up one after the other. A run that is final already stays as it is. The messages that would have had the
 * runs scored are taken out with them: they are the way back from wherever this breaks off.
 *
 * Of a run whose session may have canaries, all that would tell one from another is put aside until every run of the session
 * is final: the statement, what it adds to numbers, and the fact of its signature.
 *
 * A run with an architecture must come alone: its statement binds it to its version too, and is no kept one. Returns whether any run ended: one does not
 * either where versions shall be minted `inOrder`, and it would mint one while another was minted that it was not placed by.
 */
export async function finalise(ctx: Context, ended: readonly Ended[], at: Date, inOrder: boolean): Promise<boolean> {
  const moving = ended.filter(moves);
  const time = at.toISOString();
  const agents = new Set(ended.map(({ answered }) => answered.run.agent_id));
  const rows = storableJson(ended.map(toRow));
  const cells = moving.length === 0 ? null : { cells: cellsOf(moving), at: time };
  const boards = moving.length === 0 ? null : { boards: boardsOf(moving), at: time };
  const observed = ended.length === 1 ? ended[0]?.observed : undefined;
  let done: number | null;
  if (observed === undefined || observed.placement === null) {
    const all = END_ALL.with([{ agents: JSON.stringify([...agents]) }, { runs: rows, at: time }, cells, boards]);
    [, done] = await writeSeries(ctx, all, [z.int(), z.int()]);
  } else {
    const end = unkept(ending(sql`${rows}::jsonb`, at, { observed, inOrder }));
    const sums = [cells && SUM_UP.with(cells), boards && RESCORE.with(boards)];
    done = await writeKept(ctx, [end, ...sums.filter((sum) => sum !== null)], z.int(), lockAgents(idsOf(agents)));
  }
  // A private run moves no numbers, but may make its agent a verified one.
  if (ended.some((one) => moves(one) || (one.signed !== null && !one.answered.run.is_held)))
    ctx.cache.invalidate("board");
  return done !== null && done > 0;
}

/** Whether a run moves public numbers now; one that is held does so, if at all, when its session is settled. */
function isCounted({ answered, signed }: Ended): boolean {
  return signed !== null && !answered.run.is_private && !answered.run.is_held;
}

/** Whether a run is summed up: a counted one, or one of those that show before there is any. */
function moves(ended: Ended): boolean {
  const { simulated, is_private, trigger } = ended.answered.run;
  return isCounted(ended) || (simulated && !is_private && trigger !== "trial");
}

/** The agents and tasks of the runs, as `SUM_UP` wants them. */
function cellsOf(ended: readonly Ended[]): string {
  return JSON.stringify(ended.map(({ answered: { run, task } }) => ({ agent_id: run.agent_id, task_id: task.id })));
}

/** The boards that the runs stand on, as `RESCORE` wants them. */
function boardsOf(ended: readonly Ended[]): string {
  const boards = ended.flatMap(({ answered: { run, task } }) =>
    ["all", task.domain].map((domain) => ({ agent_id: run.agent_id, domain, run_id: run.id })),
  );
  return JSON.stringify(boards);
}

/** What the statement is given of a run. */
const COLUMNS =
  sql.raw(`id uuid, status text, passed boolean, correctness double precision, explanation text, axes jsonb,
  tool_calls_made integer, suite_id uuid, suite_version integer, evidence_cost_usd numeric, evidence_cost_source text,
  evidence_cost_partial boolean, evidence_priced_call_count integer, evidence_unpriced_call_count integer,
  evidence_total_call_count integer, evidence_cost_floor_applied boolean, total_cost_usd numeric, serving_model text, input_tokens bigint,
  output_tokens bigint, counted boolean, is_held boolean, is_canary boolean, jws text, kid text, facts jsonb`);

function toRow(ended: Ended): Record<string, unknown> {
  const { answered, assessment, signed } = ended;
  const { cost, ...graded } = assessment;
  const { suite_id, suite_version } = answered.task;
  const { jws = null, kid = null } = signed ?? {};
  const counted = isCounted(ended);
  return {
    id: answered.run.id,
    suite_id,
    suite_version,
    counted,
    is_held: answered.run.is_held,
    is_canary: answered.minted?.isCanary ?? false,
    jws,
    kid,
    facts: toFacts(factsOf(ended)),
    ...graded,
    ...cost,
  };
}

/** Ends runs that show no architecture. */
export const END = kept("end", { runs: "jsonb", at: "timestamptz" }, (value) => ending(value("runs"), value("at")));

/** Ends them under the lock of their agents, and sums up. */
export const END_ALL = inSeries("end_all", [LOCK_AGENTS, END, SUM_UP, RESCORE]);

/** Ends the runs of which `rows` is a list, in the part `done`, which has a row for each that did. */
function ending(rows: SQL, at: Moment, single?: { observed: Observation; inOrder: boolean }): Step {
  const placement = single?.observed.placement ?? null;
  const inOrder = single?.inOrder === true;
  const compared = single !== undefined && hasPredecessor(single.observed);
  const parts = sql`with given as (
    select * from jsonb_to_recordset(${rows}) as g(${COLUMNS})
  ), named as (
    select r.id, r.agent_id, r.is_private, r.status, r.answered_at from given g join ${runs} r on r.id = g.id
    where ${inOrder && placement?.isNew === true ? stillLatest(placement) : sql`true`} order by r.id for update of r
  ), open as (
    select id, agent_id, is_private from named where status = 'running' and answered_at is not null
  ), ${placeRun("open", placement)}, done as (
    update ${runs} r set status = g.status, passed = g.passed, correctness = g.correctness, explanation = g.explanation,
      axes = g.axes, tool_calls_made = g.tool_calls_made, suite_id = g.suite_id, suite_version = g.suite_version,
      evidence_cost_usd = g.evidence_cost_usd, evidence_cost_source = g.evidence_cost_source,
      evidence_cost_partial = g.evidence_cost_partial, evidence_priced_call_count = g.evidence_priced_call_count,
      evidence_unpriced_call_count = g.evidence_unpriced_call_count,
      evidence_total_call_count = g.evidence_total_call_count,
      evidence_cost_floor_applied = g.evidence_cost_floor_applied, total_cost_usd = g.total_cost_usd,
      serving_model = g.serving_model, input_tokens = g.input_tokens, output_tokens = g.output_tokens,
      evidence_signed = g.jws is not null and not g.is_held, counted = g.counted,
      awaiting_callback = false, callback_hash = null, lease_token = null, lease_expires_at = null,
      architecture_version = p.version, architecture_public_version = p.public_version,
      finalized_at = ${momentSql(at)}
    from placed p join given g on g.id = p.id where r.id = p.id
    returning r.*
  ), proof as (
    insert into ${run_evidence} (run_id, jws, kid)
    select g.id, g.jws, g.kid from given g join done d on d.id = g.id where g.jws is not null and not g.is_held
    returning jws
  ), held as (
    ${holdResults(sql`select g.id, g.is_canary, g.jws, g.kid from given g join done d on d.id = g.id where g.is_held`)}
  ), said as (
    ${logged(sql`select ${logEntry("run", { sha256: sha256Hex(sql`p.jws`) })} from proof p`)}
  ), taken_back as (
    ${takeBack(["score"], sql`select id from done`)}
  ), verified as (
    ${markVerified(sql`select r.agent_id from done r where ${VERIFIES}`)}
  ), facts as (${appendFacts(
    sql`select p.*, g.facts from placed p join done d on d.id = p.id join given g on g.id = p.id`,
    at,
    compared
      ? sql`jsonb_build_object('architecture_compared', jsonb_build_object('changed', x.changed, 'version', x.number))`
      : undefined,
  )}), ${followUp("done", at)}`;
  return { parts, owes: FOLLOW_UP, select: sql`select to_jsonb(count(*)) from done` };
}

function factsOf({ answered, assessment: { status, passed }, observed, signed }: Ended): PhaseEvent[] {
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
    ...(answered.run.is_held ? [] : [signing(signed !== null)]),
  ];
}

/** Whether there is a version to compare with; there is none before the first. */
function hasPredecessor({ placement }: Observation): boolean {
  return placement !== null && placement.latest > 0;
}
