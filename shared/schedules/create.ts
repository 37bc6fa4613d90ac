import { sql } from "drizzle-orm";
import * as z from "zod";
import { accountOfAgent, lockAccounts } from "../agents/account.ts";
import { agentOwner, retiredMode, visibleAgent } from "../agents/conditions.ts";
import { change, verdict } from "../db/change.ts";
import { agents, screening_schedules } from "../db/schema/index.ts";
import { actorId, type UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { firstInstant } from "./cron.ts";
import { activeSchedules, scheduleLimit } from "./limit.ts";
import { faultOf, REFUSALS, SCHEDULING, tasksOf } from "./refusals.ts";
import type { ScheduleCreate } from "./schemas.ts";
import { type Schedule, ScheduleRead } from "./shown.ts";
import { scheduleJson } from "./view.ts";

const CREATION = verdict(SCHEDULING);

/**
 * Schedules screenings of an agent that the caller may screen, in the caller's name. Active schedules count against the
 * plan that pays for the agent. Throws 422 for a time that can't be, 404, `forbidden`, `agent_inactive`,
 * `provider_custody_retired`, `suite_unavailable`, `task_unavailable`, `quota_exceeded`.
 */
export async function createSchedule(
  ctx: Context,
  principal: UserPrincipal,
  input: z.output<typeof ScheduleCreate>,
): Promise<Schedule> {
  const { userId } = principal;
  const { agent_id: agentId, suite_id: suiteId = null, task_ids: taskIds = null, is_active: active } = input;
  const first = firstInstant(input.cron, input.timezone, ctx.now()).toISOString();
  const { schedule } = await change(ctx, {
    // Creations for one account take turns, so that the limit is not passed.
    lock: lockAccounts(accountOfAgent(agentId)),
    parts: sql`with found as materialized (
      select a.id, ${may("run", userId, agentOwner)} as allowed, ${retiredMode} as is_retired, a.is_active,
        ${faultOf(tasksOf(suiteId, taskIds), sql`${input.repeats}::integer`)} as fault, ${scheduleLimit(ctx.now())},
        ${activeSchedules(sql`true`)} as used
      from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(userId)}
    ), target as (
      select f.*, ${CREATION.sql} as outcome from found f
    ), s as (
      insert into ${screening_schedules}
        (user_id, agent_id, suite_id, task_ids, repeats, cron, timezone, is_active, next_run_at)
      select ${actorId(principal)}::uuid, t.id, ${suiteId}::uuid, ${taskIds && JSON.stringify(taskIds)}::jsonb, ${input.repeats},
        ${input.cron}, ${input.timezone}, ${active}, ${active ? first : null}::timestamptz
      from target t where t.outcome = 'done' returning *
    )`,
    result: sql`select jsonb_build_object('outcome', t.outcome, 'limit', t.plan_limit, 'used', t.used,
      'schedule', (select ${scheduleJson(ctx.now(), userId)} from s)) as result from target t`,
    verdict: CREATION,
    done: z.object({ schedule: ScheduleRead }),
    refusals: { ...REFUSALS, not_found: () => notFound("agent") },
  });
  return schedule;
}
