import { type SQL, sql } from "drizzle-orm";
import { runs, suites, tasks } from "../db/schema/index.ts";
import { CORE_SUITE } from "../board/aggregates.ts";
import { REPEATS } from "./terms.ts";

/**
 * SQL: whether the task `t` of a plan is still asked: it is active, or another one took its place when its suite got a new
 * version. Else whoever puts runs off until then would be spared the task and the one that followed it.
 */
export const isAsked: SQL<boolean> = sql`(t.is_active or exists (select from ${tasks} n
  where n.suite_id = t.suite_id and n.position = t.position and n.suite_version > t.suite_version))`;

/** SQL: how many runs of the certification row `c` could not be carried out: all that was made of them failed by our fault. */
export const runsMissing: SQL = sql`(select count(*)::integer from (
  select from ${runs} r where r.screening_session_id = c.screening_session_id group by r.position, r.repeat_index
  having bool_and(r.failure_code is not distinct from 'service_error')) m)`;

/** SQL: the FROM clause of the tasks that certify: the active tasks `t` of the core suite and of every secret suite `k`. */
export const certificationTasks: SQL = sql`${tasks} t join ${suites} k on k.id = t.suite_id
  and (k.slug = ${CORE_SUITE} or k.is_secret) and t.is_active`;

/** SQL: how many runs a certification needs that begins now. */
export const runsNeeded: SQL = sql`(select count(*)::integer * ${REPEATS}::integer from ${certificationTasks})`;
