import { type SQL, sql } from "drizzle-orm";

/** SQL: a time as text the way the interface shows it, UTC with milliseconds; null for null. */
export function utcText(value: SQL): SQL<string> {
  return sql`to_char(${value} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
