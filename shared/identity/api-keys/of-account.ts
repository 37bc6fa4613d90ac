import { type SQL, sql } from "drizzle-orm";
import { ofAccount } from "../../db/closing.ts";
import { api_keys } from "../../db/schema/index.ts";

/** SQL: a query of the ids of an account's API keys and of those of the workspaces that it owns. */
export function keysAround(account: string | SQL): SQL {
  return ofAccount(
    account,
    (owner) => sql`select own.id from ${api_keys} own where own.user_id = ${owner}
      union all select own.id from ${api_keys} own where own.team_id = ${owner}`,
  );
}
