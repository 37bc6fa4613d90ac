import { type SQL, sql } from "drizzle-orm";
import { ofAccount } from "../../db/closing.ts";
import { team_invitations } from "../../db/schema/index.ts";

/** SQL: a query of the ids of all invitations to the workspaces that an account owns. */
export function invitationsTo(account: string | SQL): SQL {
  return ofAccount(account, (owner) => sql`select own.id from ${team_invitations} own where own.team_id = ${owner}`);
}
