import { sql } from "drizzle-orm";
import { waitlist_entries } from "../db/schema/index.ts";
import type { FollowInDomain } from "../identity/emails/confirm.ts";

/** Puts the new address on the waitlists in place of the former one; an entry that it has already stays as it is. */
export const followInterest: FollowInDomain = () => ({
  left_lists: sql`delete from ${waitlist_entries} w using follows f where w.email = f.former and f.was_verified
      returning w.*, f.email as followed_by`,
  joined_lists: sql`insert into ${waitlist_entries} (list, email, company, seats, message, created_at)
    select list, followed_by, company, seats, message, created_at from left_lists on conflict (list, email) do nothing`,
});
