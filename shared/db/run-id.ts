import { type SQL, sql } from "drizzle-orm";

/**
 * SQL: the id of a run that is made `at` (a timestamptz, also its `created_at`): runs are listed, exported and paged by
 * id, so that must be the order of their times, whichever Worker made them. `ordinal`, from 1, orders those of one statement.
 */
export function runIdAt(at: SQL, ordinal: SQL): SQL {
  return sql`uuidv7_at(${at}, ${ordinal})`;
}
