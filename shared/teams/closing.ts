import { sql } from "drizzle-orm";
import type { CloseDomain } from "../db/closing.ts";
import { agents, runs, screening_sessions, team_invitations, team_members, teams, users } from "../db/schema/index.ts";

/**
 * Removes the account from every workspace and deletes the invitations to it and to its own workspaces; those that it sent
 * for other workspaces stay without its name. Its own workspaces lose their names, and are deleted once no record that is
 * kept belongs to them.
 */
export const closing: CloseDomain = ({ id }) => {
  const invitedOrOwned = sql`(i.email = (select o.email from ${users} o where o.id = ${id}::uuid)
    or i.team_id in (select t.id from ${teams} t where t.owner_id = ${id}::uuid))`;
  return {
    parts: {
      memberships: sql`delete from ${team_members} m using u where m.user_id = u.id`,
      // Each part by an index: as one condition, all invitations of the service would be read.
      invitations: sql`delete from ${team_invitations} i using u cross join lateral (
          select o.id from ${users} a join ${team_invitations} o on o.email = a.email where a.id = u.id
          union all select o.id from ${teams} t join ${team_invitations} o on o.team_id = t.id where t.owner_id = u.id) x
        where i.id = x.id`,
      invited: sql`update ${team_invitations} i set invited_by = null
        from u where i.invited_by = u.id and not ${invitedOrOwned}`,
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
