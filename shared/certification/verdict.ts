import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { setVerifiedState } from "../agents/parts.ts";
import { write } from "../db/change.ts";
import { agents, certifications, isOpenRun, runs } from "../db/schema/index.ts";
import { oweNotice } from "../mail/owe-notice.ts";
import type { Context } from "../platform/context.ts";
import { oweEvents, sessionEvents } from "../runs/announcements.ts";
import { oweComparisons } from "../runs/follow-up.ts";
import { finishSessions } from "../runs/session-parts.ts";
import { cell, composite, type ScoredRun } from "../scoring/score.ts";
import { buyerNow } from "./buyer.ts";
import { lockCertification } from "./lock.ts";
import { oweChanges } from "./told.ts";
import { runsMissing } from "./rules.ts";
import { GIVE_UP_DAYS, PASS_RATE, PASS_SCORE, VALID_DAYS } from "./terms.ts";
import { readScreened, type ScreenedTask } from "./screened.ts";

/** How a certification ends; `score` is null where nothing can be said about the agent. */
export interface Verdict {
  isCertified: boolean;
  score: number | null;
}

const DAY_MS = 86_400_000;

/** The best that a run can come to, by every part of a score. */
const BEST: ScoredRun = {
  passed: true,
  correctness: 1,
  gradable: true,
  latency_ms: 0,
  cost_usd: 0,
  tool_calls_made: null,
};

/**
 * How a certification ends by the runs that count; null as long as it has to wait for those that are missing. They are
 * waited for until `isOverdue`, unless even the best outcome of all of them would not certify the agent.
 */
export function verdictOn(tasks: readonly ScreenedTask[], isOverdue: boolean): Verdict | null {
  const judged = judge(tasks);
  if (tasks.every(({ missing }) => missing === 0)) return judged;
  const best = tasks.map((task) => ({
    ...task,
    runs: [...task.runs, ...Array.from({ length: task.missing }, () => BEST)],
  }));
  if (!judge(best).isCertified) return { ...judged, isCertified: false };
  return isOverdue ? { isCertified: false, score: null } : null;
}

/**
 * The verdict on an agent by these runs and no others: it is certified with a composite score of at least 70, rounded as
 * it is shown, if at least half of the runs of each domain have passed.
 */
function judge(tasks: readonly ScreenedTask[]): Verdict {
  const screened = tasks.filter((task) => task.runs.length > 0);
  if (screened.length === 0) return { isCertified: false, score: null };
  const { composite_score: score } = composite(screened.map((task) => cell(task.runs, task)));
  const domains = [...Map.groupBy(screened, ({ domain }) => domain).values()];
  const passesEverywhere = domains.every((ofDomain) => {
    const made = ofDomain.flatMap((task) => task.runs);
    return made.filter(({ passed }) => passed).length >= PASS_RATE * made.length;
  });
  return { isCertified: score >= PASS_SCORE && passesEverywhere, score };
}

const Concluded = z.object({ status: z.enum(["certified", "not_certified"]), runs_missing: z.int() });

/**
 * Concludes a certification whose runs are all final, once. A cancelled run counts as one that did not pass, so that
 * nobody gains by cancelling. One that failed by our fault counts for nothing, and nothing is certified without it: whoever
 * has the agent's name can make such runs. After 14 days of tries it ends without a verdict, which the log tells the
 * operator. An agent that has become a simulated one is not certified, whatever its runs came to.
 */
export async function conclude(ctx: Context, certificationId: string): Promise<void> {
  const now = ctx.now();
  const screened = await readScreened(ctx, certificationId);
  const since = screened?.missing_since ?? null;
  const isOverdue = since !== null && now.getTime() - Date.parse(since) >= GIVE_UP_DAYS * DAY_MS;
  const verdict = verdictOn(screened?.tasks ?? [], isOverdue);
  if (verdict === null) return;
  const { isCertified, score } = verdict;
  const at = sql`${now.toISOString()}::timestamptz`;
  const expiry = sql`${new Date(now.getTime() + VALID_DAYS * DAY_MS).toISOString()}::timestamptz`;
  // Runs that were made meanwhile are to be heard, too: they have the certification advanced again.
  const hasMore = sql`(select count(*) <> ${screened?.made ?? 0} or bool_or(${isOpenRun(sql`r.status`)}) from ${runs} r
    where r.screening_session_id = c.screening_session_id)`;
  const concluded = await write(ctx, {
    lock: lockCertification(certificationId),
    parts: sql`with target as (
      select c.id, ${isCertified}::boolean and a.connection_mode <> 'mock' as is_certified
      from ${certifications} c join ${agents} a on a.id = c.agent_id
      where c.id = ${certificationId}::uuid and c.status = 'screening' and ${hasMore} is not true
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
    ), ends as (${oweEvents(sessionEvents(sql`select screening_session_id from concluded`), now)}
    ), comparisons as (${oweComparisons(sql`select screening_session_id as id, agent_id from concluded`)})`,
    owes: ["mailed", "changes", "ends", "comparisons"],
    select: sql`select jsonb_build_object('status', c.status, 'runs_missing', ${runsMissing}) as result from concluded c`,
    result: Concluded,
  });
  ctx.cache.invalidate("board");
  if (concluded !== null && score === null && concluded.runs_missing > 0)
    ctx.log.error("certification ended without a verdict: pay it back", {
      certification_id: certificationId,
      runs_missing: concluded.runs_missing,
    });
}

/** SQL: how many runs are missing, in words. */
const COULD_NOT: SQL = sql`(case m.runs when 1 then '1 run' else m.runs || ' runs' end || ' could not be carried out')`;

/** SQL: what those are told whose the certifications `concluded` are now. */
const RESULT: SQL = sql`select ${buyerNow} as user_id,
    case when c.status = 'certified' then 'certification_granted'
      when c.score is null and m.runs > 0 then 'certification_incomplete' else 'certification_refused' end as notice,
    a.name as title, case
      when c.status = 'certified' then 'Its score is ' || c.score || '.'
      when c.score is null and m.runs > 0 then ${COULD_NOT} || ', so there is no verdict.'
      when c.score is null then 'No run says anything about it.'
      else 'Its score is ' || c.score || ${`. It takes ${PASS_SCORE}, and ${PASS_RATE * 100}% of the runs of each domain.`}
        || case when m.runs > 0 then ' ' || ${COULD_NOT} || ', and would have changed nothing.' else '' end
    end as reason, a.id as page_id
  from concluded c join ${agents} a on a.id = c.agent_id cross join lateral (select ${runsMissing} as runs) m`;
