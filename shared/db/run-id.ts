import { type SQL, sql } from "drizzle-orm";

/**
 * SQL: the id of a run that is made `at` (a timestamptz, also its `created_at`): runs are listed, exported and paged by
 * id, so that must be the order of their times, whichever Worker made them. `ordinal`, from 1, orders those of one statement.
 */
export function runIdAt(at: SQL, ordinal: SQL): SQL {
  return sql`uuidv7_at(${at}, ${ordinal})`;
}

/** The least id that a run made in this millisecond (since 1970) can have. */
export function firstRunIdAt(ms: number): string {
  const time = Math.max(ms, 0).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
