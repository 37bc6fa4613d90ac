import { sql } from "drizzle-orm";
import type * as z from "zod";
import { accountOfAgent, lockAccounts } from "../agents/account.ts";
import { agentOwner, retiredMode, visibleAgent } from "../agents/view.ts";
import { agents, screening_schedules } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { may } from "../teams/rights.ts";
import { firstInstant } from "./cron.ts";
import { activeSchedules, scheduleLimit } from "./limit.ts";
import type { ScheduleCreate } from "./schemas.ts";
import { faultOf, judge, type Outcome, scheduleJson, type ScheduleRow, tasksOf } from "./view.ts";

/**
 * Schedules screenings of an agent that the caller may screen, in the caller's name. Active schedules count against the
 * plan of who pays for the agent. Throws 422 for a time that can't be, 404, `forbidden`, `agent_inactive`,
 * `provider_custody_retired`, `suite_unavailable`, `task_unavailable`, `quota_exceeded`.
 */
export async function createSchedule(
  ctx: Context,
  principal: SessionPrincipal,
  input: z.output<typeof ScheduleCreate>,
): Promise<ScheduleRow> {
  const viewer = principal.userId;
  const { agent_id: agentId, suite_id: suiteId = null, task_ids: taskIds = null, is_active: active } = input;
  const first = firstInstant(input.cron, input.timezone, ctx.now()).toISOString();
  const ctes = sql`with judged as (
    select a.id, x.*, coalesce(case
      when not ${may("run", viewer, agentOwner)} then 'forbidden'
      when ${retiredMode} then 'retired'
      when not a.is_active then 'inactive'
    end, ${faultOf(tasksOf(suiteId, taskIds))}, case when used >= plan_limit then 'quota' else 'done' end) as outcome
    from ${agents} a, lateral (select ${scheduleLimit} as plan_limit, ${activeSchedules(sql`true`)} as used) x
    where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}
  ), s as (
    insert into ${screening_schedules}
      (user_id, agent_id, suite_id, task_ids, repeats, cron, timezone, is_active, next_run_at)
    select ${viewer}::uuid, j.id, ${suiteId}::uuid, ${taskIds && JSON.stringify(taskIds)}::jsonb, ${input.repeats},
      ${input.cron}, ${input.timezone}, ${active}, ${active ? first : null}::timestamptz
    from judged j where j.outcome = 'done' returning *
  )`;
  const result = sql`select jsonb_build_object('outcome', coalesce((select outcome from judged), 'no_agent'),
    'limit', (select plan_limit from judged), 'used', (select used from judged),
    'schedule', (select ${scheduleJson} from s)) as result`;
  // Creations for one account take turns, so that the limit is not passed.
  return judge(await writeJson<Outcome>(ctx, ctes, result, lockAccounts(accountOfAgent(agentId))));
}
