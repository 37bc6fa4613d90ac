import { sql } from "drizzle-orm";
import type * as z from "zod";
import { agents, otlp_tokens } from "../db/schema/index.ts";
import { readJson, writeJson } from "../db/statement.ts";
import { endedMeanwhile, stillHolds } from "../identity/passwords/disown.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { isCredential, newCredential } from "../platform/credential.ts";
import { sha256 } from "../platform/crypto.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { accountOfAgent, lockAccounts } from "./account.ts";
import { retired } from "./connection.ts";
import type { AgentOtlpTokenResponse } from "./schemas.ts";
import { agentOwner, retiredMode, visibleAgent } from "./view.ts";

const PREFIX = "otlp_";
/** How much of a token is shown later: 8 of its 43 characters, which leaves 172 bits unknown. */
const SHOWN = PREFIX.length + 8;

interface Outcome {
  outcome: "missing" | "ended" | "forbidden" | "retired" | "inactive" | "not_live" | "issued";
  prefix: string;
  created_at: string;
}

/** Whether a text can be one of our receiver tokens: form and checksum, without any look-up. */
export function isOtlpToken(token: string): boolean {
  return isCredential(PREFIX, token);
}

/** What is stored of a receiver token: its SHA-256 in lower-case hex. */
export function hashOtlpToken(token: string): string {
  return sha256(token);
}

/**
 * Makes the token by which an agent sends its telemetry; the one before ends. Of any number at once one works, the
 * last. It is stored hashed, so a replay has null. Throws 404, 403, `provider_custody_retired`, `agent_inactive`, and
 * `agent_not_live` for an agent that has no endpoint.
 */
export async function issueOtlpToken(
  ctx: Context,
  principal: UserPrincipal,
  agentId: string,
): Promise<z.input<typeof AgentOtlpTokenResponse>> {
  const viewer = principal.userId;
  const token = newCredential(PREFIX);
  const ctes = sql`with checked as (
    select a.id, case
      when not ${stillHolds(principal)} then 'ended'
      when not ${may("edit", viewer, agentOwner)} then 'forbidden'
      when ${retiredMode} then 'retired'
      when not a.is_active then 'inactive'
      when a.connection_mode <> 'http_endpoint' then 'not_live'
      else 'issued' end as outcome
    from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}
  ), o as (
    insert into ${otlp_tokens} as o (agent_id, token_hash, prefix)
    select id, ${hashOtlpToken(token)}, ${token.slice(0, SHOWN)} from checked where outcome = 'issued'
    on conflict (agent_id) do update set token_hash = excluded.token_hash, prefix = excluded.prefix,
      created_at = excluded.created_at, last_received_at = null
    returning o.*
  )`;
  const result = sql`select jsonb_build_object('outcome', coalesce((select outcome from checked), 'missing'),
    'prefix', (select prefix from o), 'created_at', (select created_at from o)) as result`;
  // Takes turns with a deletion, so that no token outlives its agent.
  const { outcome, ...issued } = await writeJson<Outcome>(ctx, ctes, result, lockAccounts(accountOfAgent(agentId)));
  if (outcome !== "issued") throw refused(outcome);
  const shown = ctx.idempotency?.replayed === true ? null : token;
  return {
    ...issued,
    token: shown,
    endpoint: `${ctx.env.BASE_URL}/api/v1/otlp`,
    headers: shown === null ? null : { Authorization: `Bearer ${shown}` },
  };
}

/** Ends an agent's receiver token; doing it again changes nothing. Throws 404, and 403 without the right. */
export async function revokeOtlpToken(ctx: Context, principal: UserPrincipal, agentId: string): Promise<void> {
  const viewer = principal.userId;
  const allowed = await readJson<boolean>(
    ctx,
    sql`with target as (
      select a.id, ${may("edit", viewer, agentOwner)} as allowed from ${agents} a
      where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}
    ), gone as (
      delete from ${otlp_tokens} o using target t where o.agent_id = t.id and t.allowed
    )
    select to_jsonb(allowed) as result from target`,
  );
  if (allowed !== true) throw refused(allowed === null ? "missing" : "forbidden");
}

function refused(outcome: Exclude<Outcome["outcome"], "issued">): Problem {
  switch (outcome) {
    case "missing":
      return notFound("agent");
    case "ended":
      return endedMeanwhile();
    case "forbidden":
      return new Problem("forbidden", "Only the owner, or an editor of its workspace, may change this agent's token.");
    case "retired":
      return retired();
    case "inactive":
      return new Problem("agent_inactive", "The agent is not active; PATCH it with is_active true first.");
    case "not_live":
      return new Problem(
        "agent_not_live",
        "Only an agent with an endpoint sends telemetry; connect it by PATCH first.",
      );
  }
}
