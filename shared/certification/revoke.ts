import { type SQL, sql } from "drizzle-orm";
import { certifications } from "../db/schema/index.ts";

/** SQL: a part that revokes the certifications of these agents (a query of their ids) that are in force. */
export function revokeFor(agentIds: SQL): SQL {
  return sql`update ${certifications} c set status = 'expired', revoked_at = now(), updated_at = now()
    where c.agent_id in (${agentIds}) and c.status = 'certified'`;
}
