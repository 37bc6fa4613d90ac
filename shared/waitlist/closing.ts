import { sql } from "drizzle-orm";
import type { CloseDomain } from "../db/closing.ts";
import { users, waitlist_entries } from "../db/schema/index.ts";

/** Deletes the entries of the account's address. */
export const closing: CloseDomain = () => ({
  parts: {
    interest: sql`delete from ${waitlist_entries} w using u, ${users} o where o.id = u.id and w.email = o.email`,
  },
});
