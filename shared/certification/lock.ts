import { type SQL, sql } from "drizzle-orm";
import { certifications, users } from "../db/schema/index.ts";
import { lockAgents } from "../agents/lock.ts";

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

/** SQL: the lock under which an existing certification changes. */
export function lockCertification(certificationId: string): SQL {
  const column = (name: SQL) => sql`select ${name} from ${certifications} c where c.id = ${certificationId}::uuid`;
  return lockCertified(column(sql`c.agent_id`), column(sql`c.user_id`));
}
