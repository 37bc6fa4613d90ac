import { type SQL, sql } from "drizzle-orm";
import { team_members, teams, users } from "../db/schema/index.ts";

/**
 * SQL: a lock that makes changes to a workspace (a query of its id) take turns with each other, and with changes to the
 * accounts of its members and of the caller: their own workspaces, their agents' quota, their deletion. It locks the
 * accounts in the order of their ids and then the workspace, so that no two changes wait for each other.
 */
export function takeTurn(teamId: SQL, caller: string): SQL {
  return sql`with accounts as materialized (
    select u.id from ${users} u where u.id in (
      select ${caller}::uuid union select m.user_id from ${team_members} m where m.team_id in (${teamId})
    ) order by u.id for no key update
  ) select from ${teams} t where t.id in (${teamId}) and (select count(*) from accounts) > 0 for no key update`;
}
