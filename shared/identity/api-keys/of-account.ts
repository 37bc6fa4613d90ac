import { type SQL, sql } from "drizzle-orm";
import { api_keys, teams } from "../../db/schema/index.ts";

/**
 * SQL: a query of the ids of an account's API keys and of those of the workspaces that it owns, each part found by an index:
 * either one or the other, as a condition, would have all keys of the service read.
 */
export function keysAround(account: SQL): SQL {
  return sql`select o.id from ${api_keys} o where o.user_id = ${account}
    union all select o.id from ${teams} t join ${api_keys} o on o.team_id = t.id where t.owner_id = ${account}`;
}
