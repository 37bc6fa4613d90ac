import { sql } from "drizzle-orm";
import type { CloseDomain } from "../db/closing.ts";
import { agents, runs, screening_sessions, team_invitations, team_members, teams, users } from "../db/schema/index.ts";
import { invitationsTo } from "./invitations/of-account.ts";
import { isOpen } from "./view.ts";

/**
 * Removes the account from every workspace and deletes the invitations to it and to its own workspaces; those that it sent
 * for other workspaces stay without its name, and open ones are revoked, as when it leaves. Its own workspaces lose their
 * names, and are deleted once no record that is kept belongs to them.
 */
export const closing: CloseDomain = ({ id, now }) => {
  const at = sql`${now.toISOString()}::timestamptz`;
  // Each part by an index: as one condition, all invitations of the service would be read.
  const gone = sql`select o.id from ${users} a join ${team_invitations} o on o.email = a.email where a.id = ${id}::uuid
    union all ${invitationsTo(id)}`;
  return {
    parts: {
      memberships: sql`delete from ${team_members} m using u where m.user_id = u.id`,
      invitations: sql`delete from ${team_invitations} i using u, (${gone}) x where i.id = x.id`,
      invited: sql`update ${team_invitations} i set invited_by = null,
        revoked_at = case when ${isOpen({ now: () => now })} then ${at} else i.revoked_at end
        from u where i.invited_by = u.id and i.id not in (${gone})`,
      workspaces: sql`update ${teams} t set name = 'Deleted workspace' from u where t.owner_id = u.id`,
    },
    rest: [
      sql`delete from ${teams} t where t.owner_id = ${id}::uuid
        and not exists (select from ${agents} where team_id = t.id)
        and not exists (select from ${screening_sessions} where team_id = t.id)
        and not exists (select from ${runs} where team_id = t.id)`,
    ],
  };
};
