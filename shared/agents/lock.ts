import { type SQL, sql } from "drizzle-orm";
import { kept } from "../db/kept.ts";
import { agents } from "../db/schema/index.ts";

/**
 * SQL: locks the rows of the agents whose ids the query `ids` yields. Runs become final under this lock, sent before in
 * the same transaction: so what one end sums up holds all that came before, and of a session one end sees itself last.
 */
export function lockAgents(ids: SQL): SQL {
  return sql`select from ${agents} where id in (${ids}) order by id for no key update`;
}

/** Locks the rows of the agents of a list of ids, as `lockAgents` does. */
export const LOCK_AGENTS = kept("lock_agents", { agents: "jsonb" }, (value) => ({
  parts: sql`with locked as (${lockAgents(sql`select jsonb_array_elements_text(${value("agents")})::uuid`)})`,
  select: sql`select to_jsonb(count(*)) from locked`,
}));
