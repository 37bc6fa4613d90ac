import { type SQL, sql } from "drizzle-orm";
import { suites, tasks } from "../db/schema/index.ts";
import { CORE_SUITE } from "../board/aggregates.ts";

/** The price of a certification in US dollars, paid once. */
export const PRICE_USD = 39;
/** Runs of each task. */
export const REPEATS = 5;
/** The least composite score that is certified, 0 to 100. */
export const PASS_SCORE = 70;
/** The least share of runs that has to pass in each domain. */
export const PASS_RATE = 0.5;
/** How long a certification is in force. */
export const VALID_DAYS = 90;
/** How often a run that failed by our fault is repeated before the verdict is given without it. */
export const MOST_AGAIN = 3;

/** SQL: the FROM clause of the tasks that certify: the active tasks `t` of the core suite and of every secret suite `k`. */
export const certificationTasks: SQL = sql`${tasks} t join ${suites} k on k.id = t.suite_id
  and (k.slug = ${CORE_SUITE} or k.is_secret) and t.is_active`;

/** SQL: how many runs a certification needs that begins now. */
export const runsNeeded: SQL = sql`(select count(*)::integer * ${REPEATS}::integer from ${certificationTasks})`;
