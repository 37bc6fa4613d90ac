import type * as z from "zod";
import { inactive, isRetired, retired } from "../agents/connection.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { probe } from "./probe.ts";
import type { AgentReadiness } from "./readiness-shown.ts";
import { loadFacts, type ReadinessFacts, storeCheck } from "./readiness-facts.ts";

/** How long a result counts as evidence. */
const VALID_MS = 60 * 60 * 1000;
/** How recently telemetry must have come to be called flowing. */
const RECEIVING_MS = 24 * 60 * 60 * 1000;

type Readiness = z.output<typeof AgentReadiness>;

/** An agent's readiness; throws 404, and `forbidden` without the right to run it. */
export async function readReadiness(ctx: Context, principal: UserPrincipal, agentId: string): Promise<Readiness> {
  return project(await loadFacts(ctx, principal.userId, agentId), ctx.now());
}

/**
 * Calls the agent's endpoint with a tiny task, stores the result, and returns the readiness with it, and with what happened where
 * that failed; two statements. An
 * agent without an endpoint is not called. A result for an endpoint that was changed meanwhile is dropped. Throws 404,
 * `forbidden` without the right to run it, `agent_inactive`, `provider_custody_retired`; `ResolverFault` where our own
 * resolver failed, and then nothing is stored.
 */
export async function checkReadiness(ctx: Context, principal: UserPrincipal, agentId: string): Promise<Readiness> {
  const before = await loadFacts(ctx, principal.userId, agentId);
  if (isRetired(before.connection_mode)) throw retired();
  if (!before.is_active) throw inactive();
  const { target } = before;
  if (target === null) return project(before, ctx.now());
  const result = await probe(ctx, target);
  const at = ctx.now();
  const readiness = project(await storeCheck(ctx, principal.userId, { agentId, target, result, at }), at);
  const { endpoint } = readiness;
  // A run that ended meanwhile may have another story.
  const isOfCheck = !result.ok && endpoint.failure_code === result.failure_code;
  return isOfCheck ? { ...readiness, endpoint: { ...endpoint, detail: result.detail } } : readiness;
}

function project({ agent_id, target, evidence, token }: ReadinessFacts, now: Date): Readiness {
  const last_received_at = token?.last_received_at ?? null;
  const receiving = last_received_at !== null && now.getTime() - Date.parse(last_received_at) <= RECEIVING_MS;
  return {
    agent_id,
    endpoint: target === null ? { ...UNCHECKED, state: "not_applicable" } : endpointOf(evidence, now),
    telemetry: { state: token === null ? "not_configured" : receiving ? "receiving" : "waiting", last_received_at },
  };
}

const UNCHECKED: Readiness["endpoint"] = {
  state: "unchecked",
  checked_at: null,
  valid_until: null,
  latency_ms: null,
  failure_code: null,
  detail: null,
};

function endpointOf(evidence: ReadinessFacts["evidence"], now: Date): Readiness["endpoint"] {
  if (evidence === null) return UNCHECKED;
  const { at: checked_at, latency_ms, failure_code, current } = evidence;
  const validUntil = new Date(Date.parse(checked_at) + VALID_MS);
  if (!current || validUntil <= now) return { ...UNCHECKED, checked_at };
  const state = failure_code === null ? "ready" : "failing";
  return { state, checked_at, valid_until: validUntil.toISOString(), latency_ms, failure_code, detail: null };
}
