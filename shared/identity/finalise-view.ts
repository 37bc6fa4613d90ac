import { type SQL, sql } from "drizzle-orm";
import { teams } from "../db/schema/index.ts";

/**
 * SQL: the email of the account row `u` once it is deleted. Under a name that is never delivered (RFC 2606), and with
 * a capital, which no address that somebody registers keeps.
 */
export const deletedEmail: SQL = sql`('Deleted-' || u.id || '@deleted.invalid')`;

/** SQL: whether the account row `u` was deleted; its row stays for what is kept without a name. */
export const isDeleted: SQL<boolean> = sql`(u.email = ${deletedEmail})`;

/** SQL: whether the agent row `a` is the account's, or of a workspace that the account owns. */
export function belongsTo(userId: string): SQL<boolean> {
  return sql`case when a.team_id is null then a.user_id = ${userId}::uuid
    else a.team_id in (select t.id from ${teams} t where t.owner_id = ${userId}::uuid) end`;
}
