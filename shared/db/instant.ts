import { type SQL, sql } from "drizzle-orm";

/** A time in a statement: a value, or SQL of type timestamptz that the statement is given. */
export type Moment = Date | SQL;

/** SQL: a moment as timestamptz. */
export function momentSql(at: Moment): SQL {
  return at instanceof Date ? sql`${at.toISOString()}::timestamptz` : at;
}

/** SQL: a time as text the way the interface shows it, UTC with milliseconds; null for null. */
export function utcText(value: SQL): SQL<string> {
  return sql`to_char(${value} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** SQL: a time in seconds since the epoch, as exactly as it is kept. */
export function epochSeconds(value: SQL): SQL<number> {
  return sql`extract(epoch from ${value})`;
}
