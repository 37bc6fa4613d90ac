import { type SQL, sql } from "drizzle-orm";
import { certifications, runs } from "../db/schema/index.ts";
import { VERIFIES } from "../runs/verified.ts";
import { inForce } from "./credential.ts";

/**
 * SQL: the `verified_state` of the agent row `a` once the certifications `ended` (a query of their ids) have ended:
 * `certified` if another one is in force, else `verified` if it has a signed, completed real run.
 */
export function stateWithout(ended: SQL, now: Date): SQL {
  return sql`case
    when exists (select from ${certifications} c where c.agent_id = a.id and ${inForce(now)} and c.id not in (${ended}))
      then 'certified'
    when exists (select from ${runs} r where r.agent_id = a.id and ${VERIFIES}) then 'verified'
    else 'unverified' end`;
}
