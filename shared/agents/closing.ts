import { sql } from "drizzle-orm";
import type { CloseDomain } from "../db/closing.ts";
import { agents, certifications, runs } from "../db/schema/index.ts";

/**
 * Switches the account's agents off and takes away everything by which they could be known. An agent goes once no run of
 * it is kept, unless its credential was revoked: the bit in the status list comes from the row that goes with the agent.
 */
export const closing: CloseDomain = ({ owns }) => {
  const idle = sql`${owns} and not exists (select from ${runs} r where r.agent_id = a.id)
    and not exists (select from ${certifications} c where c.agent_id = a.id and c.revoked_at is not null)`;
  return {
    parts: {
      unnamed: sql`update ${agents} a set name = 'Deleted agent', description = '', endpoint = null, auth_header = null, provider_url = null,
          manifest_url = null, customer_llm_provider = null, daemon_last_seen_at = null, declared_configuration = null,
          allow_trial = false, publish_answers = false, is_active = false, registry_status = 'unregistered', updated_at = now(),
          verified_state = case a.verified_state when 'certified' then 'verified' else a.verified_state end
        from u where ${owns}`,
    },
    rest: [
      sql`update ${agents} v set variant_of = null from ${agents} a where a.id = v.variant_of and ${idle}`,
      sql`delete from ${agents} a where ${idle}`,
    ],
  };
};
