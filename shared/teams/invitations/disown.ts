import { sql } from "drizzle-orm";
import { team_invitations } from "../../db/schema/index.ts";
import type { DisownInDomain } from "../../identity/passwords/disown.ts";
import { invitationsTo } from "./of-account.ts";

/**
 * Revokes the open invitations that the accounts sent, and those of the workspaces that they own, whoever sent them: the
 * members, who may all be the stranger by other names, would come back by them.
 */
export const disownInvitations: DisownInDomain = ({ now }) => sql`
  update ${team_invitations} i set revoked_at = ${now.toISOString()}::timestamptz from claimed c cross join lateral (
    select o.id from ${team_invitations} o where o.invited_by = c.id union all ${invitationsTo(sql`c.id`)}) x
  where i.id = x.id and not c.proven and i.accepted_at is null and i.revoked_at is null`;
