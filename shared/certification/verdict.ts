import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { accountOf } from "../agents/account.ts";
import { setVerifiedState } from "../agents/parts.ts";
import { agentOwner } from "../agents/conditions.ts";
import { COST } from "../board/aggregates.ts";
import { read, write } from "../db/change.ts";
import { agents, certifications, isOpenRun, runs, tasks } from "../db/schema/index.ts";
import { oweNotice } from "../mail/owe-notice.ts";
import type { Context } from "../platform/context.ts";
import { oweEvents, sessionEvents } from "../runs/announcements.ts";
import { finishSessions } from "../runs/session-parts.ts";
import { cell, composite, type ScoredRun, type TaskReference } from "../scoring/score.ts";
import { lockCertification } from "./lock.ts";
import { oweChanges } from "./told.ts";
import { PASS_RATE, PASS_SCORE, VALID_DAYS } from "./rules.ts";

const FinalRun = z.object({
  passed: z.boolean(),
  correctness: z.number(),
  gradable: z.boolean(),
  latency_ms: z.number().nullable(),
  cost_usd: z.number().nullable(),
  tool_calls_made: z.number().nullable(),
}) satisfies z.ZodType<ScoredRun>;

const Reference = z.object({
  reference_cost_usd: z.number(),
  reference_latency_ms: z.number(),
  expected_tool_calls: z.number().nullable(),
}) satisfies z.ZodType<TaskReference>;

/** A task of a certification, with the final runs that count. */
const ScreenedTask = Reference.extend({ domain: z.string(), runs: z.array(FinalRun).min(1) });

/** How a certification ends; `score` is null where no run says anything about the agent. */
export interface Verdict {
  isCertified: boolean;
  score: number | null;
}

const DAY_MS = 86_400_000;

/**
 * The verdict on an agent by the runs of its certification and no others: it is certified with a composite score of at
 * least 70, rounded as it is shown, if at least half of the runs of each domain have passed.
 */
export function verdictOn(screened: readonly z.output<typeof ScreenedTask>[]): Verdict {
  if (screened.length === 0) return { isCertified: false, score: null };
  const { composite_score: score } = composite(screened.map((task) => cell(task.runs, task)));
  const domains = [...Map.groupBy(screened, ({ domain }) => domain).values()];
  const passesEverywhere = domains.every((ofDomain) => {
    const made = ofDomain.flatMap((task) => task.runs);
    return made.filter(({ passed }) => passed).length >= PASS_RATE * made.length;
  });
  return { isCertified: score >= PASS_SCORE && passesEverywhere, score };
}

/**
 * Concludes a certification whose runs are all final, once. A cancelled run counts as one that did not pass, so that
 * nobody gains by cancelling; one that failed by our fault does not count. An agent that has become a simulated one is
 * not certified, whatever its runs came to.
 */
export async function conclude(ctx: Context, certificationId: string): Promise<void> {
  const { isCertified, score } = verdictOn(await readScreened(ctx, certificationId));
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  const expiry = sql`${new Date(now.getTime() + VALID_DAYS * DAY_MS).toISOString()}::timestamptz`;
  await write(ctx, {
    lock: lockCertification(certificationId),
    parts: sql`with target as (
      select c.id, ${isCertified}::boolean and a.connection_mode <> 'mock' as is_certified
      from ${certifications} c join ${agents} a on a.id = c.agent_id
      where c.id = ${certificationId}::uuid and c.status = 'screening' and not exists (select from ${runs} r
        where r.screening_session_id = c.screening_session_id and ${isOpenRun(sql`r.status`)})
    ), concluded as (
      update ${certifications} c set status = case when x.is_certified then 'certified' else 'not_certified' end,
        score = ${score}::numeric, issued_at = case when x.is_certified then ${at} end,
        expires_at = case when x.is_certified then ${expiry} end, updated_at = ${at}
      from target x where c.id = x.id returning c.*
    ), finished as (
      ${finishSessions(sql`select screening_session_id from concluded`, now)}
    ), shown as (
      ${setVerifiedState(sql`select agent_id from concluded where status = 'certified'`, sql`'certified'`)}
    ), mailed as (${oweNotice("certification_result", RESULT)}
    ), changes as (${oweChanges(sql`select * from concluded`, now)}
    ), ends as (${oweEvents(sessionEvents(sql`select screening_session_id from concluded`), now)})`,
    owes: ["mailed", "changes", "ends"],
    select: sql`select to_jsonb(status) as result from concluded`,
    result: z.enum(["certified", "not_certified"]),
  });
  ctx.cache.invalidate("board");
}

/** SQL: what the buyers of the certifications `concluded` are told; without a buyer it is the agent's account. */
const RESULT: SQL = sql`select coalesce(x.user_id, ${accountOf(agentOwner)}) as user_id,
    case x.status when 'certified' then 'certification_granted' else 'certification_refused' end as notice,
    a.name as title, case
      when x.status = 'certified' then 'Its score is ' || x.score || '.'
      when x.score is null then 'No run says anything about it.'
      else 'Its score is ' || x.score || ${`. It takes ${PASS_SCORE}, and ${PASS_RATE * 100}% of the runs of each domain.`}
    end as reason, a.id as page_id
  from concluded x join ${agents} a on a.id = x.agent_id`;

async function readScreened(ctx: Context, certificationId: string): Promise<z.output<typeof ScreenedTask>[]> {
  const screened = await read(
    ctx,
    z.array(ScreenedTask),
    sql`select jsonb_agg(jsonb_build_object('domain', t.domain, 'reference_cost_usd', t.reference_cost_usd,
        'reference_latency_ms', t.reference_latency_ms, 'expected_tool_calls', t.expected_tool_calls,
        'runs', x.runs)) as result
      from (
        select r.task_id, jsonb_agg(jsonb_build_object('passed', coalesce(r.passed, false),
          'correctness', coalesce(r.correctness, 0), 'gradable', r.status = 'completed',
          'latency_ms', case when r.status = 'completed' then r.latency_ms end, 'cost_usd', ${COST},
          'tool_calls_made', r.tool_calls_made)) as runs
        from ${certifications} c join ${runs} r on r.screening_session_id = c.screening_session_id
        where c.id = ${certificationId}::uuid and r.failure_code is distinct from 'service_error'
        group by r.task_id
      ) x join ${tasks} t on t.id = x.task_id`,
  );
  return screened ?? [];
}
