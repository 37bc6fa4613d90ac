import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, telling, verdict } from "../db/change.ts";
import { agents, teams } from "../db/schema/index.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { bodyProblem, notFound, Problem } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { accountOfAgent, lockAccounts } from "./account.ts";
import { agentQuota, duplicateName, refuseTakenName } from "./create.ts";
import { agentOwner, visibleAgent } from "./conditions.ts";
import { agentQuotaOf } from "./quota.ts";
import { AgentRow, agentJson } from "./view.ts";

/** SQL: whether the agent row `a` is elsewhere than in the workspace row `w`. */
const moves = sql`a.team_id is distinct from w.id`;

/**
 * Moves an agent to a workspace; the caller needs the right to change the agent here and agents there. Its runs keep
 * their owner. Does nothing to an agent that is there already. Throws 404, 403, `duplicate_name`, `quota_exceeded` by the
 * plan of the workspace's owner, and `invalid_variant` for a variant and for a root with variants. A hired agent, whose
 * root belongs to somebody else, moves alone.
 */
export async function transferAgent(
  ctx: Context,
  principal: SessionPrincipal,
  agentId: string,
  teamId: string,
): Promise<AgentRow> {
  const viewer = principal.userId;
  const workspace = { user_id: sql`${viewer}::uuid`, team_id: sql`${teamId}::uuid` };
  const transfer = verdict({
    forbidden: sql`not ${may("edit", viewer, agentOwner)}`,
    no_team: sql`not ${may("see", viewer, workspace)}`,
    forbidden_there: sql`not ${may("edit", viewer, workspace)}`,
    grouped: sql`${moves} and exists (select from ${agents} v where (v.id = a.variant_of or v.variant_of = a.id)
      and coalesce(v.team_id, v.user_id) = coalesce(a.team_id, a.user_id))`,
    duplicate: sql`${moves} and a.is_active and exists (select from ${agents} o where o.is_active
      and coalesce(o.team_id, o.user_id) = w.id and lower(o.name) = lower(a.name))`,
    quota: sql`${moves} and a.is_active and quota.used >= quota.agent_limit`,
  });
  const { agent } = await change(ctx, {
    lock: lockAccounts(
      sql`${accountOfAgent(agentId)} union select t.owner_id from ${teams} t where t.id = ${teamId}::uuid`,
    ),
    parts: sql`with target as (
      select a.id, quota.agent_limit, quota.used, ${moves} as moves, ${transfer.sql} as outcome
      from ${agents} a left join ${teams} w on w.id = ${teamId}::uuid
        cross join ${agentQuotaOf(ctx.now(), workspace, sql`${moves} and a.is_active`)}
      where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}
    ), a as (
      update ${agents} a set team_id = ${teamId}::uuid, updated_at = case when t.moves then now() else a.updated_at end
      from target t where a.id = t.id and t.outcome = 'done' returning a.*
    )`,
    result: sql`select jsonb_build_object('outcome', t.outcome, 'limit', t.agent_limit, 'used', t.used,
      'agent', (select ${agentJson(viewer)} from a)) as result from target t`,
    verdict: transfer,
    done: z.object({ agent: AgentRow }),
    refusals: {
      not_found: () => notFound("agent"),
      forbidden: noRight,
      no_team: () => notFound("workspace"),
      forbidden_there: noRight,
      grouped: () =>
        bodyProblem(
          "invalid_variant",
          "/team_id",
          "A variant group stays together; PATCH variant_of to null first, here or in this agent's variants.",
        ),
      duplicate: () => duplicateName(false),
      quota: telling(AgentQuota, ({ limit, used }) => agentQuota(limit, used)),
    },
  }).catch((error: unknown) => refuseTakenName(error, false));
  return agent;
}

const AgentQuota = z.object({ limit: z.int(), used: z.int() });

function noRight(): Problem {
  return new Problem("forbidden", "You need the right to change agents both where the agent is and in the workspace.");
}
