import { sql } from "drizzle-orm";
import { setVerifiedState } from "../agents/parts.ts";
import { agents, certifications, runs, screening_sessions, tasks } from "../db/schema/index.ts";
import { readJson, writeJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { cell, composite, type ScoredRun, type TaskReference } from "../scoring/score.ts";
import { COST } from "../board/aggregates.ts";
import { lockCertification } from "./lock.ts";
import { PASS_RATE, PASS_SCORE, VALID_DAYS } from "./rules.ts";

/** A final run of a certification, with what it is measured against. */
export interface JudgedRun extends ScoredRun, TaskReference {
  task_id: string;
  domain: string;
}

/** What a certification ends with; `score` is null where no run says anything about the agent. */
export interface Verdict {
  isCertified: boolean;
  score: number | null;
}

const DAY_MS = 86_400_000;

/**
 * Judges an agent by the runs of its certification and no others: it is certified with a composite of at least 70, as it
 * is shown, and at least half of the runs of each domain passed.
 */
export function judge(judged: readonly JudgedRun[]): Verdict {
  const groups = <K extends "task_id" | "domain">(key: K) => [...Map.groupBy(judged, (run) => run[key]).values()];
  const cells = groups("task_id").map((same) => cell(same, same[0] as JudgedRun));
  if (cells.length === 0) return { isCertified: false, score: null };
  const { composite_score: score } = composite(cells);
  const isEven = groups("domain").every(
    (same) => same.filter(({ passed }) => passed).length >= PASS_RATE * same.length,
  );
  return { isCertified: score >= PASS_SCORE && isEven, score };
}

/**
 * Ends a certification whose runs are all final with its verdict, once. A run that was cancelled counts as one that did
 * not pass, so that nobody gains by it; one that failed by our fault is left out. An agent that is simulated by now is not
 * certified, whatever it did before.
 */
export async function conclude(ctx: Context, certificationId: string): Promise<void> {
  const { isCertified, score } = judge(await readRuns(ctx, certificationId));
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  const expiry = sql`${new Date(now.getTime() + VALID_DAYS * DAY_MS).toISOString()}::timestamptz`;
  const ctes = sql`with target as (
    select c.id, ${isCertified}::boolean and a.connection_mode <> 'mock' as is_certified
    from ${certifications} c join ${agents} a on a.id = c.agent_id
    where c.id = ${certificationId}::uuid and c.status = 'screening' and not exists (select from ${runs} r
      where r.screening_session_id = c.screening_session_id and r.status in ('queued', 'running'))
  ), ended as (
    update ${certifications} c set status = case when x.is_certified then 'certified' else 'not_certified' end,
      score = ${score}::numeric, issued_at = case when x.is_certified then ${at} end,
      expires_at = case when x.is_certified then ${expiry} end, updated_at = ${at}
    from target x where c.id = x.id returning c.agent_id, c.screening_session_id, x.is_certified
  ), finished as (
    update ${screening_sessions} s set finished_at = ${at} from ended e
    where s.id = e.screening_session_id and s.finished_at is null
  ), shown as (
    ${setVerifiedState(sql`select agent_id from ended where is_certified`, sql`'certified'`)}
  )`;
  await writeJson(ctx, ctes, sql`select to_jsonb(true) as result`, lockCertification(certificationId));
  ctx.cache.invalidate("board");
}

async function readRuns(ctx: Context, certificationId: string): Promise<JudgedRun[]> {
  const judged = await readJson<JudgedRun[]>(
    ctx,
    sql`select jsonb_agg(jsonb_build_object('task_id', t.id, 'domain', t.domain, 'passed', coalesce(r.passed, false),
        'correctness', coalesce(r.correctness, 0), 'gradable', r.status = 'completed',
        'latency_ms', case when r.status = 'completed' then r.latency_ms end, 'cost_usd', ${COST},
        'tool_calls_made', r.tool_calls_made, 'reference_cost_usd', t.reference_cost_usd,
        'reference_latency_ms', t.reference_latency_ms, 'expected_tool_calls', t.expected_tool_calls)) as result
      from ${certifications} c join ${runs} r on r.screening_session_id = c.screening_session_id
        join ${tasks} t on t.id = r.task_id
      where c.id = ${certificationId}::uuid and r.failure_code is distinct from 'service_error'`,
  );
  return judged ?? [];
}
