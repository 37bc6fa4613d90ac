import { type SQL, sql } from "drizzle-orm";
import { agents } from "../db/schema/index.ts";

/**
 * SQL: locks the rows of the agents whose ids the query `ids` yields. Runs become final under this lock, sent before in
 * the same transaction: so what one end sums up holds all that came before, and of a session one end sees itself last.
 */
export function lockAgents(ids: SQL): SQL {
  return sql`select from ${agents} where id in (${ids}) order by id for no key update`;
}
