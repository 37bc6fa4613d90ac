import { type SQL, sql } from "drizzle-orm";
import { accountOf } from "../agents/account.ts";
import { agentOwner } from "../agents/conditions.ts";
import { lockAgents } from "../agents/lock.ts";
import { agents, certifications, users } from "../db/schema/index.ts";

/**
 * SQL: locks these agents (a query of their ids), so that changes of certifications and the ends of runs take turns. The
 * accounts `userIds` (a query), to which the rows to be written refer, are locked first, as in every change of an agent, so
 * that no two changes wait for each other.
 */
export function lockCertified(agentIds: SQL, userIds: SQL): SQL {
  return sql`with accounts as (
    select u.id from ${users} u where u.id in (${userIds}) order by u.id for key share
  ) ${lockAgents(sql`select x.id from (${agentIds}) x(id) where (select count(*) from accounts) >= 0`)}`;
}

/** SQL: the lock under which an existing certification changes: its buyer's account, and the one that pays for the agent. */
export function lockCertification(certificationId: string): SQL {
  const row = sql`from ${certifications} c join ${agents} a on a.id = c.agent_id where c.id = ${certificationId}::uuid`;
  return lockCertified(
    sql`select a.id ${row}`,
    sql`select c.user_id ${row} union select ${accountOf(agentOwner)} ${row}`,
  );
}
