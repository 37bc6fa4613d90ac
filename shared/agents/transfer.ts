import { sql } from "drizzle-orm";
import { planLimit } from "../billing/plans.ts";
import { agents, teams, users } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { bodyProblem, notFound, Problem } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { accountOfAgent, lockAccounts } from "./account.ts";
import { agentQuota, duplicateName, refuseTakenName } from "./create.ts";
import { type AgentRow, agentJson, agentOwner, visibleAgent } from "./view.ts";

interface Outcome {
  outcome: "missing" | "forbidden" | "no_team" | "grouped" | "duplicate" | "quota" | "moved" | "unchanged";
  limit: number | null;
  used: number | null;
  agent: AgentRow | null;
}

/**
 * Moves an agent to a workspace; the caller needs the right to change the agent here and agents there. Its runs stay
 * whose they were. Does nothing to one that is there already. Throws 404, 403, `duplicate_name`, `quota_exceeded` by
 * the plan of the workspace's owner, `invalid_variant` for a variant and for the root of some. What was hired has its
 * root with somebody else, and moves alone.
 */
export async function transferAgent(
  ctx: Context,
  principal: SessionPrincipal,
  agentId: string,
  teamId: string,
): Promise<AgentRow> {
  const viewer = principal.userId;
  const target = { user_id: sql`${viewer}::uuid`, team_id: sql`${teamId}::uuid` };
  const ctes = sql`with workspace as (
    select t.id, ${planLimit(sql`u.plan`, "agents")} as agent_limit,
      (select count(*) from ${agents} a where a.is_active and a.team_id = t.id)::integer as used
    from ${teams} t join ${users} u on u.id = t.owner_id where t.id = ${teamId}::uuid
  ), checked as (
    select a.id, w.agent_limit, w.used, case
      when not ${may("edit", viewer, agentOwner)} then 'forbidden'
      when not ${may("see", viewer, target)} then 'no_team'
      when not ${may("edit", viewer, target)} then 'forbidden'
      when a.team_id = w.id then 'unchanged'
      when exists (select from ${agents} v where (v.id = a.variant_of or v.variant_of = a.id)
        and coalesce(v.team_id, v.user_id) = coalesce(a.team_id, a.user_id)) then 'grouped'
      when a.is_active and exists (select from ${agents} o where o.is_active
        and coalesce(o.team_id, o.user_id) = w.id and lower(o.name) = lower(a.name)) then 'duplicate'
      when a.is_active and w.used >= w.agent_limit then 'quota'
      else 'moved' end as outcome
    from ${agents} a left join workspace w on true where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}
  ), a as (
    update ${agents} a set team_id = ${teamId}::uuid,
      updated_at = case c.outcome when 'moved' then now() else a.updated_at end
    from checked c where a.id = c.id and c.outcome in ('moved', 'unchanged') returning a.*
  )`;
  const result = sql`select jsonb_build_object('outcome', coalesce((select outcome from checked), 'missing'),
    'limit', (select agent_limit from checked), 'used', (select used from checked),
    'agent', (select ${agentJson(viewer)} from a)) as result`;
  const lock = lockAccounts(
    sql`${accountOfAgent(agentId)} union select t.owner_id from ${teams} t where t.id = ${teamId}::uuid`,
  );
  return judge(await writeJson<Outcome>(ctx, ctes, result, lock).catch(refuseTakenName));
}

function judge({ outcome, limit, used, agent }: Outcome): AgentRow {
  switch (outcome) {
    case "missing":
      throw notFound("agent");
    case "forbidden":
      throw new Problem(
        "forbidden",
        "You need the right to change agents both where the agent is and in the workspace.",
      );
    case "no_team":
      throw notFound("workspace");
    case "grouped":
      throw bodyProblem(
        "invalid_variant",
        "/team_id",
        "A variant group stays together; PATCH variant_of to null first, here or in this agent's variants.",
      );
    case "duplicate":
      throw duplicateName();
    case "quota":
      throw agentQuota(limit, used);
    default:
      return agent as AgentRow;
  }
}
