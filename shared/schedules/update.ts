import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { accountOfAgent, lockAccounts } from "../agents/account.ts";
import { agentOwner, retiredMode } from "../agents/view.ts";
import { agents, screening_schedules } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { firstInstant } from "./cron.ts";
import { activeSchedules, scheduleLimit } from "./limit.ts";
import { readSchedule } from "./read.ts";
import type { ScheduleUpdate } from "./schemas.ts";
import { faultOf, judge, type Outcome, scheduleJson, type ScheduleRow, tasksOf } from "./view.ts";

type Change = z.output<typeof ScheduleUpdate>;
type Result = Outcome | { outcome: "changed" } | null;

/**
 * Changes the fields that are given; another time counts from now on. Who turns it on again is from then on the one in
 * whose name it screens. Throws 404, `forbidden`, 422 for a time that can't be, `suite_unavailable`, `task_unavailable`,
 * and on turning it on `agent_inactive`, `provider_custody_retired`, `quota_exceeded`.
 */
export async function updateSchedule(
  ctx: Context,
  principal: SessionPrincipal,
  scheduleId: string,
  input: Change,
): Promise<ScheduleRow> {
  const before = await readSchedule(ctx, principal, scheduleId);
  const outcome = await change(ctx, principal.userId, before, input);
  if (outcome === null) throw notFound("schedule");
  // The time was reckoned from what stood there before: somebody else's change of it came between, and is done.
  if (outcome.outcome === "changed") return updateSchedule(ctx, principal, scheduleId, input);
  return judge(outcome);
}

async function change(ctx: Context, viewer: string, before: ScheduleRow, input: Change): Promise<Result> {
  const { cron = before.cron, timezone = before.timezone, is_active: active = before.is_active } = input;
  const activating = active && !before.is_active;
  const retimed = activating || cron !== before.cron || timezone !== before.timezone;
  const next = retimed
    ? sql`${firstInstant(cron, timezone, ctx.now()).toISOString()}::timestamptz`
    : sql`s.next_run_at`;
  const { suite_id: suiteId = null, task_ids: taskIds = null } = input;
  const chosen = suiteId !== null || taskIds !== null;
  const set: SQL[] = [
    sql`cron = ${cron}`,
    sql`timezone = ${timezone}`,
    sql`is_active = ${active}`,
    sql`next_run_at = ${active ? next : null}`,
    sql`repeats = ${input.repeats ?? sql`s.repeats`}`,
    sql`updated_at = now()`,
  ];
  if (chosen) set.push(sql`suite_id = ${suiteId}::uuid`, sql`task_ids = ${taskIds && JSON.stringify(taskIds)}::jsonb`);
  if (activating) set.push(sql`user_id = ${viewer}::uuid`, sql`last_error = null`);
  const asBefore = sql`(s.cron, s.timezone, s.is_active) = (${before.cron}, ${before.timezone}, ${before.is_active})`;
  const ctes = sql`with judged as (
    select s.id, x.*, coalesce(case
      when not ${may("run", viewer, agentOwner)} then 'forbidden'
      when not ${asBefore} then 'changed'
      when ${activating} and ${retiredMode} then 'retired'
      when ${activating} and not a.is_active then 'inactive'
    end, ${chosen ? faultOf(tasksOf(suiteId, taskIds)) : null},
    case when ${activating} and used >= plan_limit then 'quota' else 'done' end) as outcome
    from ${screening_schedules} s join ${agents} a on a.id = s.agent_id,
      lateral (select ${scheduleLimit} as plan_limit, ${activeSchedules(sql`o.id <> s.id`)} as used) x
    where s.id = ${before.id}::uuid and ${may("see", viewer, agentOwner)}
  ), s as (
    update ${screening_schedules} s set ${sql.join(set, sql`, `)}
    from judged j where s.id = j.id and j.outcome = 'done' and ${asBefore} returning s.*
  )`;
  const result = sql`select jsonb_build_object(
    'outcome', case when j.outcome = 'done' and not exists (select from s) then 'changed' else j.outcome end,
    'limit', plan_limit, 'used', used, 'schedule', (select ${scheduleJson} from s)) as result from judged j
    union all select null where not exists (select from judged)`;
  return writeJson<Result>(ctx, ctes, result, lockAccounts(accountOfAgent(before.agent_id)));
}
