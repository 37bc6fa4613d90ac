import { sql } from "drizzle-orm";
import { CHUNK, type CloseDomain } from "../db/closing.ts";
import { anyOf, chunkOfEach } from "../db/closing-chunks.ts";
import { agents, certifications, runs } from "../db/schema/index.ts";

/**
 * SQL: whether the agent row `a` goes with the account that owns it: once no run of it is kept, unless its credential was
 * revoked, since the bit in the status list comes from the row that goes with the agent.
 */
export const goes = sql<boolean>`(not exists (select from ${runs} r where r.agent_id = a.id)
  and not exists (select from ${certifications} c where c.agent_id = a.id and c.revoked_at is not null))`;

const NAMELESS = sql`name = 'Deleted agent', description = '', endpoint = null, auth_header = null, provider_url = null,
  manifest_url = null, customer_llm_provider = null, daemon_last_seen_at = null, declared_configuration = null,
  allow_trial = false, publish_answers = false, is_active = false, registry_status = 'unregistered', updated_at = now(),
  verified_state = case a.verified_state when 'certified' then 'verified' else a.verified_state end`;

/** SQL: whether NAMELESS changes the agent row `a`. */
const isNamed = sql`((a.name, a.description, a.allow_trial, a.publish_answers, a.is_active, a.registry_status)
    is distinct from ('Deleted agent', '', false, false, false, 'unregistered') or a.verified_state = 'certified'
  or num_nonnulls(a.endpoint, a.auth_header, a.provider_url, a.manifest_url, a.customer_llm_provider, a.daemon_last_seen_at,
    a.declared_configuration) > 0)`;

/** Switches the account's agents off and takes away everything by which they could be known; those that may go, go. */
export const closing: CloseDomain = (account) => {
  const named = sql`select a.id from ${agents} a where ${account.owns} and ${isNamed} limit ${CHUNK}`;
  return {
    // Those of an ordinary account all at once.
    parts: { unnamed: sql`update ${agents} a set ${NAMELESS} from u where a.id in (${named})` },
    ending: [
      (place) => sql`${chunkOfEach(account, agents, place, sql`select a.id where ${isNamed}`)}, done as (
        update ${agents} a set ${NAMELESS} where a.id = ${anyOf("chunk")} returning a.id
      )`,
    ],
    chunks: [
      (place) => sql`${chunkOfEach(
        account,
        agents,
        place,
        sql`select v.id from ${agents} v where v.variant_of = a.id and ${goes}`,
      )}, done as (
        update ${agents} v set variant_of = null where v.id = ${anyOf("chunk")} returning v.id
      )`,
      (place) => sql`${chunkOfEach(account, agents, place, sql`select a.id where ${goes}`)}, done as (
        delete from ${agents} a where a.id = ${anyOf("chunk")} returning a.id
      )`,
    ],
  };
};
