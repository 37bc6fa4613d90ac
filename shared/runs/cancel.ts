import { sql } from "drizzle-orm";
import * as z from "zod";
import { lockAgents } from "../agents/lock.ts";
import { change, verdict } from "../db/change.ts";
import { isOpenRun, runs } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { cancelling } from "./cancelling.ts";
import { FOLLOW_UP } from "./follow-up.ts";
import { RunRead } from "./shown.ts";
import { mayCancel, mayRun, type RunRow, runJson, runsWithAgents, visibleRun } from "./view.ts";

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
      select r.id, ${mayRun("see", viewer)} as owned, ${mayCancel("r", viewer)} as allowed
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
      forbidden: () =>
        new Problem(
          "forbidden",
          "Only those who may run the agent may cancel its runs, and those of a certification only those who may buy one.",
        ),
      in_progress: () =>
        new Problem("run_in_progress", "The run was taken up and can no longer be cancelled. It ends by its deadline."),
    },
  });
  return run;
}
