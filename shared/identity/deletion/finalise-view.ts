import { type SQL, sql } from "drizzle-orm";
import { teams } from "../../db/schema/index.ts";

/** SQL: whether the agent row `a` is the account's, or of a workspace that the account owns. */
export function belongsTo(userId: string | SQL): SQL<boolean> {
  return sql`case when a.team_id is null then a.user_id = ${userId}::uuid
    else a.team_id in (select t.id from ${teams} t where t.owner_id = ${userId}::uuid) end`;
}
