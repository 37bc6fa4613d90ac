import { type SQL, sql } from "drizzle-orm";
import { runIdAt } from "../db/run-id.ts";
import { agents, runs, screening_sessions, tasks } from "../db/schema/index.ts";
import { oweDispatch } from "./messages.ts";

const SESSION = sql.raw("id, agent_id, user_id, team_id, suite_id, trigger, task_plan, repeats, is_private, epoch");

/**
 * SQL: a part of a statement that inserts a screening session for each row of `source`, a query of the columns `id`,
 * `agent_id`, `user_id`, `team_id`, `suite_id`, `trigger`, `task_plan`, `repeats`, `is_private` and `epoch`.
 * @example
 * sql`with session as (${insertSession(sql`select … from target`, ctx.now())})`
 */
export function insertSession(source: SQL, at: Date): SQL {
  return sql`insert into ${screening_sessions} (${SESSION}, created_at)
    select ${SESSION}, ${at.toISOString()}::timestamptz from (${source}) s`;
}

const RUN = sql.raw(
  "agent_id, task_id, trigger, simulated, is_private, screening_session_id, position, repeat_index, repeat_total, user_id, api_key_id, team_id, paid_kind, paid_owner, paid_period, suite_id, canary",
);

/**
 * SQL: the parts `reserved` and `dispatches` of a statement that inserts a queued run for each row of `source` and owes its
 * dispatch. `source` is a query of the columns `agent_id`, `task_id`, `trigger`, `simulated`, `is_private`,
 * `screening_session_id`, `position`, `repeat_index`, `repeat_total`, `user_id`, `api_key_id` (null where they asked by no key),
 * `team_id` (null for a personal run), `paid_kind`, `paid_owner`, `paid_period`, `suite_id` and `canary` (null where it may be one, else false); the ids follow position and repeat. `reserved` has all columns
 * of the runs, and `dispatches` are messages.
 * @example
 * sql`with target as (…), ${reserveRuns(sql`select … from target`, ctx.now())}` // then `owes: ["dispatches"]`
 */
export function reserveRuns(source: SQL, at: Date): SQL {
  const now = sql`${at.toISOString()}::timestamptz`;
  return sql`reserved as (
    insert into ${runs} (id, ${RUN}, domain, scope, publishes_answer, created_at)
    select ${runIdAt(now, sql`row_number() over (order by position, repeat_index)`)}, ${RUN},
      (select t.domain from ${tasks} t where t.id = s.task_id),
      case when team_id is null then 'personal' else 'team' end,
      (select a.publish_answers from ${agents} a where a.id = s.agent_id), ${now}
    from (${source}) s order by position, repeat_index
    returning *
  ), dispatches as (${oweDispatch("reserved")})`;
}
