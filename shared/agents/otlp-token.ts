import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../db/change.ts";
import { agents } from "../db/schema/index.ts";
import { stillHolds } from "../identity/passwords/disown.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { endedMeanwhile, notFound, Problem } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { deleteTokens, newOtlpToken, storeToken } from "../telemetry/token.ts";
import { accountOfAgent, lockAccounts } from "./account.ts";
import { retired } from "./connection.ts";
import { AgentOtlpTokenResponse } from "./schemas.ts";
import { agentOwner, retiredMode, visibleAgent } from "./conditions.ts";

/**
 * Makes the token by which an agent sends its telemetry; the one before ends. Of any number issued at once, only the last
 * one works. It is stored hashed, so a replay has null. Throws 404, 403, `provider_custody_retired`, `agent_inactive`, and
 * `agent_not_live` for an agent that has no endpoint.
 */
export async function issueOtlpToken(
  ctx: Context,
  principal: UserPrincipal,
  agentId: string,
): Promise<z.output<typeof AgentOtlpTokenResponse>> {
  const viewer = principal.userId;
  const token = newOtlpToken();
  const issuing = verdict({
    ended: sql`not ${stillHolds(principal)}`,
    forbidden: sql`not ${may("edit", viewer, agentOwner)}`,
    retired: retiredMode,
    inactive: sql`not a.is_active`,
    not_live: sql`a.connection_mode <> 'http_endpoint'`,
  });
  const issued = await change(ctx, {
    // Takes turns with a deletion, so that no token outlives its agent.
    lock: lockAccounts(accountOfAgent(agentId)),
    parts: sql`with target as (
      select a.id, ${issuing.sql} as outcome
      from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}
    ), issued as (${storeToken(sql`select id from target where outcome = 'done'`, token)})`,
    result: sql`select jsonb_build_object('outcome', t.outcome, 'prefix', i.prefix, 'created_at', i.created_at) as result
      from target t left join issued i on i.agent_id = t.id`,
    verdict: issuing,
    done: AgentOtlpTokenResponse.pick({ prefix: true, created_at: true }),
    refusals: {
      not_found: () => notFound("agent"),
      ended: endedMeanwhile,
      forbidden: noTokenRight,
      retired,
      inactive: () => new Problem("agent_inactive", "The agent is not active; PATCH it with is_active true first."),
      not_live: () =>
        new Problem("agent_not_live", "Only an agent with an endpoint sends telemetry; connect it by PATCH first."),
    },
  });
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
  const revoking = verdict({ forbidden: sql`not ${may("edit", viewer, agentOwner)}` });
  await change(ctx, {
    parts: sql`with target as (
      select a.id, ${revoking.sql} as outcome from ${agents} a
      where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}
    ), revoked as (${deleteTokens(sql`select id from target where outcome = 'done'`)})`,
    result: sql`select jsonb_build_object('outcome', outcome) as result from target`,
    verdict: revoking,
    done: z.unknown(),
    refusals: { not_found: () => notFound("agent"), forbidden: noTokenRight },
  });
}

function noTokenRight(): Problem {
  return new Problem("forbidden", "Only the owner, or an editor of its workspace, may change this agent's token.");
}
