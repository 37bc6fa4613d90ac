import { type SQL, sql } from "drizzle-orm";
import { agents, screening_sessions } from "../db/schema/index.ts";
import { insertSession } from "../runs/reserve.ts";
import { certificationTasks } from "./rules.ts";
import { REPEATS } from "./terms.ts";

/**
 * SQL: the parts `plan` and `session` of a statement that begins the screening of its part `target` (as `reserving` has
 * it): the plan is every task that certifies at this moment, those of the core suite first.
 */
export function newSession(now: Date): SQL {
  return sql`plan as (
    select t.id as task_id, t.suite_version,
      row_number() over (order by k.is_secret, k.created_at, k.id, t.position, t.id)::integer as position
    from ${certificationTasks}
  ), session as (${insertSession(
    sql`select x.session_id as id, x.agent_id, x.buyer_id as user_id, a.team_id, null::uuid as suite_id,
      'certification' as trigger, (select jsonb_agg(to_jsonb(p) order by p.position) from plan p) as task_plan,
      ${REPEATS}::integer as repeats, false as is_private, null as epoch
    from target x join ${agents} a on a.id = x.agent_id`,
    now,
  )})`;
}

/** SQL: the part `plan` of a statement that continues the screening of its part `target`: the plan that it began with. */
export const keptPlan: SQL = sql`plan as (
  select (p ->> 'task_id')::uuid as task_id, (p ->> 'position')::integer as position
  from target x join ${screening_sessions} s on s.id = x.session_id cross join jsonb_array_elements(s.task_plan) p
)`;
