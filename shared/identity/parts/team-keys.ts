import { type SQL, sql } from "drizzle-orm";
import { api_keys } from "../../db/schema/index.ts";

/** SQL: a part that deletes the API keys of these workspaces (a query of their ids) and returns their hashes, for `forgetKey`. */
export function removeKeysOfTeams(teamIds: SQL): SQL {
  return sql`delete from ${api_keys} k where k.team_id in (${teamIds}) returning k.key_hash`;
}
