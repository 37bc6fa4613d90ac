import { type SQL, sql } from "drizzle-orm";
import { agents } from "../db/schema/index.ts";

/** SQL: a part that makes these agents (a query of their ids) verified, unless they are that or certified already. */
export function markVerified(agentIds: SQL): SQL {
  return sql`update ${agents} a set verified_state = 'verified'
    where a.id in (${agentIds}) and a.verified_state = 'unverified'`;
}

/** SQL: a part that gives these agents (a query of their ids) the `verified_state` that `state` says of the row `a`. */
export function setVerifiedState(agentIds: SQL, state: SQL): SQL {
  return sql`update ${agents} a set verified_state = ${state} where a.id in (${agentIds})`;
}

/** SQL: a part that notes when the manifests of these agents (a query of their ids) were last asked for; returns their ids. */
export function markManifestChecked(agentIds: SQL, at: SQL): SQL {
  return sql`update ${agents} a set manifest_checked_at = ${at} where a.id in (${agentIds}) returning a.id`;
}

/**
 * SQL: a part that switches these agents (a query of their ids) off and discards for good what they keep to be called with:
 * of those that were switched off before, too. An agent that is off and keeps nothing is left alone.
 */
export function switchOffAndDiscard(agentIds: SQL): SQL {
  return sql`update ${agents} a set is_active = false, customer_llm_provider = null, auth_header = null, updated_at = now()
    where a.id in (${agentIds}) and (a.is_active or num_nonnulls(a.customer_llm_provider, a.auth_header) > 0)`;
}

/**
 * SQL: gives an agent that is in the registry this status, unless its manifest's URL or its endpoint are no longer those
 * that were looked at.
 */
export function setRegistryStatus(
  agentId: string,
  status: "registered" | "stale",
  checked: { manifest_url: string; endpoint: string | null },
): SQL {
  return sql`update ${agents} a set registry_status = ${status}
    where a.id = ${agentId}::uuid and a.registry_status <> ${status} and a.registry_status <> 'unregistered'
      and a.manifest_url = ${checked.manifest_url} and a.endpoint is not distinct from ${checked.endpoint}::text`;
}

/**
 * SQL: a part that makes a private, simulated agent for each row of `source`, a query of the columns `id`, `user_id`,
 * `name`, `declared_configuration` and `variant_of`. What was paid for is not stopped by the plan's limit.
 */
export function insertHired(source: SQL): SQL {
  return sql`insert into ${agents} (id, user_id, name, connection_mode, declared_configuration, variant_of, is_public)
    select id, user_id, name, 'mock', declared_configuration, variant_of, false from (${source}) hired`;
}
