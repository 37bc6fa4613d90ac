import { sql } from "drizzle-orm";
import { team_invitations } from "../../db/schema/index.ts";
import type { DisownInDomain } from "../../identity/passwords/disown.ts";

/** Revokes the open invitations that the accounts sent. */
export const disownInvitations: DisownInDomain = ({ now }) => sql`
  update ${team_invitations} i set revoked_at = ${now.toISOString()}::timestamptz from claimed c
  where i.invited_by = c.id and not c.proven and i.accepted_at is null and i.revoked_at is null`;
