import { type SQL, sql } from "drizzle-orm";

/**
 * SQL: the email of the account row `u` once it is deleted: in a domain to which no mail is ever delivered (RFC 2606), and
 * with a capital letter, which no registered address has, since those are stored in lower case.
 */
export const deletedEmail: SQL = sql`('Deleted-' || u.id || '@deleted.invalid')`;

/** SQL: whether the account row `u` was deleted; its row stays for the records that are kept without a name. */
export const isDeleted: SQL<boolean> = sql`(u.email = ${deletedEmail})`;
