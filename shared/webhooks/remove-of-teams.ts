import { type SQL, sql } from "drizzle-orm";
import { webhooks } from "../db/schema/index.ts";

/** SQL: a part of a statement that deletes the webhooks of the workspaces in `teamIds`, a query of ids. */
export function removeWebhooksOfTeams(teamIds: SQL): SQL {
  return sql`delete from ${webhooks} w where w.team_id in (${teamIds})`;
}
