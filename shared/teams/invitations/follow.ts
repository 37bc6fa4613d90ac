import { sql } from "drizzle-orm";
import { team_invitations } from "../../db/schema/index.ts";
import type { FollowInDomain } from "../../identity/emails/confirm.ts";

/**
 * Keeps the invitations that an account was sent under its new address. One that it has not accepted is revoked: its link
 * went to the former address, and works for that one alone.
 */
export const followInvitations: FollowInDomain = ({ now }) => ({
  invited: sql`update ${team_invitations} i set email = f.email,
      revoked_at = case when i.accepted_at is null then coalesce(i.revoked_at, ${now.toISOString()}::timestamptz) end
    from follows f where i.email = f.former and (f.was_verified or i.accepted_at is not null)`,
});
