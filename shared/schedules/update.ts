import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { accountOfAgent, lockAccounts } from "../agents/account.ts";
import { agentOwner, retiredMode } from "../agents/conditions.ts";
import { change, verdict } from "../db/change.ts";
import { agents, screening_schedules } from "../db/schema/index.ts";
import { actorId, type UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { firstInstant } from "./cron.ts";
import { activeSchedules, scheduleLimit } from "./limit.ts";
import { readSchedule } from "./read.ts";
import { faultOf, REFUSALS, SCHEDULING, tasksOf } from "./refusals.ts";
import type { ScheduleUpdate } from "./schemas.ts";
import { type Schedule, ScheduleRead } from "./shown.ts";
import { scheduleJson } from "./view.ts";

type Input = z.output<typeof ScheduleUpdate>;

/** What a change would make of a schedule is judged only while the schedule is as it was read; the right to it, always. */
const UPDATE = verdict(SCHEDULING);

/**
 * Changes the fields that are given; another time counts from now on. Whoever turns it on again is from then on the one
 * in whose name it screens. Throws 404, `forbidden`, 422 for a time that can't be, `suite_unavailable`,
 * `task_unavailable`, and on turning it on `agent_inactive`, `provider_custody_retired`, `quota_exceeded`.
 */
export async function updateSchedule(
  ctx: Context,
  principal: UserPrincipal,
  scheduleId: string,
  input: Input,
): Promise<Schedule> {
  const before = await readSchedule(ctx, principal, scheduleId);
  const updated = await updateAsRead(ctx, principal, before, input);
  // The time was computed from what was read: where somebody else has changed that since, it is read again.
  return updated ?? (await updateSchedule(ctx, principal, scheduleId, input));
}

/** Updates a schedule that still has the time and state of `before`; null where it has others by now. */
async function updateAsRead(
  ctx: Context,
  principal: UserPrincipal,
  before: Schedule,
  input: Input,
): Promise<Schedule | null> {
  const viewer = principal.userId;
  const activating = input.is_active === true && !before.is_active;
  const asRead = sql`(s.cron, s.timezone, s.is_active) = (${before.cron}, ${before.timezone}, ${before.is_active})`;
  const { schedule } = await change(ctx, {
    lock: lockAccounts(accountOfAgent(before.agent_id)),
    parts: sql`with found as materialized (
      select s.id, ${may("run", viewer, agentOwner)} as allowed, ${scheduleLimit(ctx.now())},
        ${asRead} and ${activating} and ${retiredMode} as is_retired,
        a.is_active or not (${asRead} and ${activating}) as is_active,
        case when ${asRead} then ${faultOfChange(before, input)} end as fault,
        case when ${asRead} and ${activating} then ${activeSchedules(sql`o.id <> s.id`)} end as used
      from ${screening_schedules} s join ${agents} a on a.id = s.agent_id
      where s.id = ${before.id}::uuid and ${may("see", viewer, agentOwner)}
    ), target as (
      select f.*, ${UPDATE.sql} as outcome from found f
    ), s as (
      update ${screening_schedules} s set ${sql.join(assignments(ctx, actorId(principal), before, input), sql`, `)}
      from target t where s.id = t.id and t.outcome = 'done' and ${asRead} returning s.*
    )`,
    result: sql`select jsonb_build_object('outcome', t.outcome, 'limit', t.plan_limit, 'used', t.used,
      'schedule', (select ${scheduleJson(ctx.now(), viewer)} from s)) as result from target t`,
    verdict: UPDATE,
    done: z.object({ schedule: ScheduleRead.nullable() }),
    refusals: { ...REFUSALS, not_found: () => notFound("schedule") },
  });
  return schedule;
}

/** SQL: why what is changed can't be scheduled. Of tasks that stay, only whether they are too many so often is asked. */
function faultOfChange(before: Schedule, input: Input): SQL {
  const { suite_id: suiteId = null, task_ids: taskIds = null, repeats } = input;
  const times = sql`coalesce(${repeats ?? null}::integer, s.repeats)`;
  if (suiteId !== null || taskIds !== null) return faultOf(tasksOf(suiteId, taskIds), times);
  if (repeats === undefined) return sql`null`;
  const fault = faultOf(tasksOf(before.suite_id, before.task_ids), times);
  return sql`(select 'too_many' where ${fault} = 'too_many')`;
}

function assignments(ctx: Context, actor: string, before: Schedule, input: Input): SQL[] {
  const { cron = before.cron, timezone = before.timezone, is_active: active = before.is_active } = input;
  const activating = active && !before.is_active;
  const retimed = activating || cron !== before.cron || timezone !== before.timezone;
  const next = retimed
    ? sql`${firstInstant(cron, timezone, ctx.now()).toISOString()}::timestamptz`
    : sql`s.next_run_at`;
  const set = [
    sql`cron = ${cron}`,
    sql`timezone = ${timezone}`,
    sql`is_active = ${active}`,
    sql`next_run_at = ${active ? next : null}`,
    sql`repeats = ${input.repeats ?? sql`s.repeats`}`,
    sql`updated_at = now()`,
  ];
  const { suite_id: suiteId = null, task_ids: taskIds = null } = input;
  if (suiteId !== null || taskIds !== null) {
    set.push(sql`suite_id = ${suiteId}::uuid`, sql`task_ids = ${taskIds && JSON.stringify(taskIds)}::jsonb`);
  }
  if (activating) set.push(sql`user_id = ${actor}::uuid`, sql`last_error = null`);
  return set;
}
