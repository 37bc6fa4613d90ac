import { type SQL, sql } from "drizzle-orm";
import { screening_sessions } from "../db/schema/index.ts";

/**
 * SQL: a part of a statement that finishes these sessions (a query of their ids), unless they have finished before.
 * @example
 * sql`with finished as (${finishSessions(sql`select ${id}::uuid`, ctx.now())})`
 */
export function finishSessions(ids: SQL, at: Date): SQL {
  return sql`update ${screening_sessions} set finished_at = ${at.toISOString()}::timestamptz
    where id in (${ids}) and finished_at is null`;
}

/**
 * SQL: a part of a statement that reopens these sessions (a query of their ids), because more runs were reserved in them.
 * @example
 * sql`with reopened as (${reopenSessions(sql`select screening_session_id from reserved`)})`
 */
export function reopenSessions(ids: SQL): SQL {
  return sql`update ${screening_sessions} set finished_at = null where id in (${ids})`;
}
