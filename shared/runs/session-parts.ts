import { type SQL, sql } from "drizzle-orm";
import { screening_sessions } from "../db/schema/index.ts";

/** SQL: a part of a statement that finishes these sessions (a query of their ids), unless they have finished before. */
export function finishSessions(ids: SQL, at: Date): SQL {
  return sql`update ${screening_sessions} set finished_at = ${at.toISOString()}::timestamptz
    where id in (${ids}) and finished_at is null`;
}

/** SQL: a part of a statement that reopens these sessions (a query of their ids), because more runs were reserved in them. */
export function reopenSessions(ids: SQL): SQL {
  return sql`update ${screening_sessions} set finished_at = null where id in (${ids})`;
}
