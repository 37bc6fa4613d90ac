import { sql } from "drizzle-orm";
import type * as z from "zod";
import { planLimit } from "../billing/plans.ts";
import { agents, teams, users } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { bodyProblem, notFound, Problem } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { checkUrls, modeOf } from "./connection.ts";
import type { AgentCreate } from "./schemas.ts";
import { type AgentRow, agentJson } from "./view.ts";

interface Outcome {
  outcome: "created" | "no_team" | "forbidden" | "quota" | "duplicate" | "bad_root";
  limit: number | null;
  used: number;
  agent: AgentRow | null;
}

/**
 * Makes an agent for the caller or one of the caller's workspaces. Throws `endpoint_not_allowed`, `duplicate_name`,
 * `quota_exceeded`, `invalid_variant`, `provider_custody_retired`, and 404 or 403 for a workspace.
 */
export async function createAgent(
  ctx: Context,
  principal: UserPrincipal,
  input: z.output<typeof AgentCreate>,
): Promise<AgentRow> {
  const mode = modeOf(input);
  const { endpoint, provider_url, manifest_url } = await checkUrls(ctx, input);
  const viewer = principal.userId;
  const teamId = input.team_id ?? null;
  const variantOf = input.variant_of ?? null;
  const configuration =
    input.declared_configuration === undefined ? null : JSON.stringify(input.declared_configuration);
  const owner = { user_id: sql`${viewer}::uuid`, team_id: sql`${teamId}::uuid` };
  const ctes = sql`with scope as (
    select ${may("see", viewer, owner)} as seen, ${may("edit", viewer, owner)} as allowed,
      ${planLimit(sql`u.plan`, "agents")} as agent_limit,
      (select count(*) from ${agents} a where a.is_active and (
        case when ${teamId}::uuid is null then a.user_id = ${viewer}::uuid and a.team_id is null
        else a.team_id = ${teamId}::uuid end))::integer as used
    from ${users} u where u.id = coalesce((select t.owner_id from ${teams} t where t.id = ${teamId}::uuid), ${viewer}::uuid)
  ), checked as (
    select s.*, case
      when not seen then 'no_team'
      when not allowed then 'forbidden'
      when exists (select from ${agents} a where a.is_active and lower(a.name) = lower(${input.name})
        and coalesce(a.team_id, a.user_id) = coalesce(${teamId}::uuid, ${viewer}::uuid)) then 'duplicate'
      when used >= agent_limit then 'quota'
      when ${variantOf}::uuid is not null and not exists (select from ${agents} a where a.id = ${variantOf}::uuid
        and a.is_active and a.variant_of is null and a.team_id is not distinct from ${teamId}::uuid
        and (a.team_id is not null or a.user_id = ${viewer}::uuid)) then 'bad_root'
      else 'created' end as outcome
    from scope s
  ), a as (
    insert into ${agents} (user_id, team_id, name, description, connection_mode, endpoint, agent_protocol, provider_url,
      manifest_url, declared_configuration, variant_of, is_public, allow_trial)
    select ${viewer}::uuid, ${teamId}::uuid, ${input.name}, ${input.description ?? ""}, ${mode}, ${endpoint ?? null},
      ${input.agent_protocol ?? "native"}, ${provider_url ?? null}, ${manifest_url ?? null}, ${configuration}::jsonb,
      ${variantOf}::uuid, ${input.is_public ?? true}, ${input.allow_trial ?? false}
    from checked where outcome = 'created' returning *
  )`;
  const result = sql`select jsonb_build_object('outcome', c.outcome, 'limit', c.agent_limit, 'used', c.used,
    'agent', (select ${agentJson(viewer)} from a)) as result from checked c`;
  // The same lock as for changes: those of one owner take turns, so that neither the quota nor a name is taken twice.
  const lock = sql`select from ${users} where id =
    coalesce((select t.owner_id from ${teams} t where t.id = ${teamId}::uuid), ${viewer}::uuid) for update`;
  const { outcome, limit, used, agent } = await writeJson<Outcome>(ctx, ctes, result, lock);
  switch (outcome) {
    case "no_team":
      throw notFound("workspace");
    case "forbidden":
      throw new Problem("forbidden", "Your role in this workspace does not allow creating agents.");
    case "duplicate":
      throw duplicateName();
    case "quota":
      throw agentQuota(limit, used);
    case "bad_root":
      throw badRoot();
    default:
      return agent as AgentRow;
  }
}

/** The 409 for a name that another active agent of the owner has, in any case. */
export function duplicateName(): Problem {
  return new Problem("duplicate_name", "Another active agent of this owner has the name; choose another.");
}

/** The 402 for an owner whose plan allows no further active agent. */
export function agentQuota(limit: number | null, used: number | null): Problem {
  return new Problem("quota_exceeded", `The plan allows ${limit} active agents. Delete one or upgrade.`, {
    members: { limit, used, resets_at: null },
  });
}

/** The 422 for a `variant_of` that can't be the root of a variant group. */
export function badRoot(): Problem {
  return bodyProblem(
    "invalid_variant",
    "/variant_of",
    "Name an active agent of the same owner that is itself no variant.",
  );
}
