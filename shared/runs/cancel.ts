import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { lockAgents } from "../agents/lock.ts";
import { giveBackAllowance } from "../billing/allowances.ts";
import { change, verdict } from "../db/change.ts";
import { isOpenRun, runs } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { FOLLOW_UP, followUp } from "./follow-up.ts";
import { withdrawDispatch } from "./messages.ts";
import { RunRead } from "./schemas.ts";
import { mayCancel, mayRun, type RunRow, runJson, runsWithAgents, visibleRun } from "./view.ts";

/**
 * SQL: the parts `ended` and `followUp`'s of a statement that cancels the queued runs within `scope` (a condition over runs
 * `r`) and gives their allowance back; `FOLLOW_UP` names those that owe messages, and `also` is as there. Running ones go on: what an agent was
 * asked counts, however it ends. A canary stays one even if all other runs of its task are cancelled: if it counted then,
 * whoever knows the samples by heart would cancel all else.
 * @example
 * sql`with ${cancelling(sql`r.screening_session_id = ${id}::uuid`, ctx.now())}` // then `owes: FOLLOW_UP`
 */
export function cancelling(scope: SQL, now: Date, also: SQL = sql``): SQL {
  return sql`ended as (
      update ${runs} r set status = 'cancelled', canary = false, finalized_at = ${now.toISOString()}::timestamptz
      where ${scope} and r.status = 'queued' returning r.*
    ), refunded as (${giveBackAllowance(sql`select paid_kind, paid_owner, paid_period from ended`)}
    ), taken_back as (${withdrawDispatch("ended")}
    ), ${followUp("ended", now, also)}`;
}

const CANCELLATION = verdict({ forbidden: sql`not allowed` }, "in_progress");

/**
 * Cancels a queued run and gives its allowance back; a final run stays as it is. Throws 404 for a run that is not
 * visible, `forbidden` without the right, `run_in_progress` once the run was taken up: it then ends by its deadline.
 */
export async function cancelRun(ctx: Context, principal: UserPrincipal, runId: string): Promise<RunRow> {
  const viewer = principal.userId;
  const { run } = await change(ctx, {
    lock: lockAgents(sql`select r.agent_id from ${runs} r where r.id = ${runId}::uuid`),
    parts: sql`with seen as (
      select r.id, ${mayRun("see", viewer)} as owned, ${mayCancel(viewer)} as allowed
      from ${runsWithAgents(sql`${runs}`)} where r.id = ${runId}::uuid and ${visibleRun(viewer)}
    ), target as (
      select id, owned, ${CANCELLATION.sql} as outcome from seen
    ), ${cancelling(sql`r.id in (select id from target where outcome = 'done')`, ctx.now())}, now_run as (
      select * from ended
      union all select r.* from ${runs} r join target t on t.id = r.id where not exists (select from ended)
    )`,
    owes: FOLLOW_UP,
    // A run that this statement still saw queued, but did not cancel, was taken up at the same moment.
    result: sql`select jsonb_build_object('run', ${runJson(sql`t.owned`)}, 'outcome', case
        when t.outcome = 'done' and ${isOpenRun(sql`r.status`)} then 'in_progress' else t.outcome end) as result
      from target t join now_run r on r.id = t.id`,
    verdict: CANCELLATION,
    done: z.object({ run: RunRead }),
    refusals: {
      not_found: () => notFound("run"),
      forbidden: () => new Problem("forbidden", "Only those who may run the agent may cancel its runs."),
      in_progress: () =>
        new Problem("run_in_progress", "The run was taken up and can no longer be cancelled. It ends by its deadline."),
    },
  });
  return run;
}
