import { type SQL, sql } from "drizzle-orm";

/**
 * SQL: the email of the account row `u` once it is deleted. Under a name that is never delivered (RFC 2606), and with
 * a capital, which no address that somebody registers keeps.
 */
export const deletedEmail: SQL = sql`('Deleted-' || u.id || '@deleted.invalid')`;

/** SQL: whether the account row `u` was deleted; its row stays for what is kept without a name. */
export const isDeleted: SQL<boolean> = sql`(u.email = ${deletedEmail})`;
