import { type SQL, sql } from "drizzle-orm";
import { certifications, users } from "../db/schema/index.ts";
import { lockAgents } from "../agents/lock.ts";

/**
 * SQL: locks the rows of `agentIds` (a query), under which certifications and the ends of runs take turns. The rows of
 * `userIds`, which what is written then refers to, come first, as in every change of an agent: no two wait for each other.
 */
export function lockCertified(agentIds: SQL, userIds: SQL): SQL {
  return sql`with named as (
    select u.id from ${users} u where u.id in (${userIds}) order by u.id for key share
  ) ${lockAgents(sql`select x.id from (${agentIds}) x(id) where (select count(*) from named) >= 0`)}`;
}

/** SQL: the lock under which a certification that exists changes. */
export function lockCertification(certificationId: string): SQL {
  const column = (name: SQL) => sql`select ${name} from ${certifications} c where c.id = ${certificationId}::uuid`;
  return lockCertified(column(sql`c.agent_id`), column(sql`c.user_id`));
}
