import { type SQL, sql } from "drizzle-orm";
import { agents, teams, users } from "../db/schema/index.ts";
import { agentOwner } from "./conditions.ts";

/** SQL: the account that pays for what a workspace has, or a user where `team_id` is null. */
export function accountOf(owner: { user_id: SQL; team_id: SQL }): SQL {
  // Without a workspace nothing is looked up: a list of a thousand judges this of each.
  return sql`coalesce(case when ${owner.team_id} is not null
    then (select t.owner_id from ${teams} t where t.id = ${owner.team_id}) end, ${owner.user_id})`;
}

/** SQL: the account that an agent counts against, as a query of at most one row. */
export function accountOfAgent(agentId: string): SQL {
  return sql`select ${accountOf(agentOwner)} from ${agents} a where a.id = ${agentId}::uuid`;
}

/**
 * SQL: makes changes to the agents of these accounts (a query of their ids) take turns, so that neither a quota nor a
 * name is taken twice. Always in the order of the ids, so that no two wait for each other. Whoever only names an account in
 * a row of its own does not wait: a submission does that last, and would close a circle.
 */
export function lockAccounts(accounts: SQL): SQL {
  return sql`select from ${users} u where u.id in (${accounts}) order by u.id for no key update`;
}
