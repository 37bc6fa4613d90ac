import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { planLimit } from "../billing/plans.ts";
import { agents, certifications, users } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { bodyProblem, notFound, Problem } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { accountOf, accountOfAgent, lockAccounts } from "./account.ts";
import { checkUrls, isRetired, retired } from "./connection.ts";
import { agentQuota, badRoot, refuseTakenName } from "./create.ts";
import type { AgentUpdate } from "./schemas.ts";
import { type AgentRow, agentJson, agentOwner, retiredMode, visibleAgent } from "./view.ts";

interface Outcome {
  outcome: "updated" | "forbidden" | "retired" | "no_endpoint" | "quota" | "bad_root";
  limit: number | null;
  agent: AgentRow | null;
}

/**
 * Changes the fields that are given. An agent of a retired mode takes no change until `clear_customer_llm_key` gives the
 * mode up; then it is `mock` until it is connected. Throws 404, 403, `duplicate_name`, `endpoint_not_allowed`,
 * `provider_custody_retired`, `invalid_variant`, `quota_exceeded` (when an agent is activated again).
 */
export async function updateAgent(
  ctx: Context,
  principal: UserPrincipal,
  agentId: string,
  input: z.output<typeof AgentUpdate>,
): Promise<AgentRow> {
  if (isRetired(input.connection_mode)) throw retired();
  const checked = await checkUrls(ctx, input);
  const viewer = principal.userId;
  const clear = input.clear_customer_llm_key === true;
  const endpoint = "endpoint" in checked ? sql`${checked.endpoint ?? null}::text` : sql`a.endpoint`;
  const mode = sql`case
    when ${input.connection_mode ?? null}::text is not null then ${input.connection_mode ?? null}::text
    when ${clear} and ${retiredMode} then 'mock'
    when a.connection_mode = 'mock' and ${typeof checked.endpoint === "string"} then 'http_endpoint'
    else a.connection_mode end`;
  const variantOf = input.variant_of ?? null;
  const activating = input.is_active === true;
  const ctes = sql`with target as (
    select a.*, ${may("edit", viewer, agentOwner)} as allowed, ${retiredMode} as is_retired, ${mode} as new_mode, ${endpoint} as new_endpoint,
      ${planLimit(sql`(select u.plan from ${users} u where u.id = ${accountOf(agentOwner)})`, "agents")} as agent_limit,
      (select count(*) from ${agents} o where o.is_active and o.id <> a.id
        and coalesce(o.team_id, o.user_id) = coalesce(a.team_id, a.user_id))::integer as others
    from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}
  ), checked as (
    select t.*, case
      when not allowed then 'forbidden'
      when is_retired and not ${clear} then 'retired'
      when new_mode = 'http_endpoint' and new_endpoint is null then 'no_endpoint'
      when ${activating} and not is_active and others >= agent_limit then 'quota'
      when ${variantOf}::uuid is not null and (${variantOf}::uuid = id
        or exists (select from ${agents} o where o.variant_of = t.id
          and coalesce(o.team_id, o.user_id) = coalesce(t.team_id, t.user_id))
        or not exists (select from ${agents} o where o.id = ${variantOf}::uuid and o.is_active and o.variant_of is null
          and coalesce(o.team_id, o.user_id) = coalesce(t.team_id, t.user_id))) then 'bad_root'
      else 'updated' end as outcome
    from target t
  ), a as (
    update ${agents} a set ${sql.join(assignments(checked), sql`, `)},
      connection_mode = c.new_mode, endpoint = c.new_endpoint, registry_status = ${registryStatus(checked)},
      customer_llm_provider = ${clear ? sql`null` : sql`a.customer_llm_provider`}, updated_at = now(),
      verified_state = case when c.new_mode = 'mock' and a.verified_state = 'certified' then 'verified'
        else a.verified_state end
    from checked c where a.id = c.id and c.outcome = 'updated' returning a.*
  ), uncertified as (
    update ${certifications} x set status = 'expired', revoked_at = now(), updated_at = now()
    from a where x.agent_id = a.id and x.status = 'certified' and a.connection_mode = 'mock'
  )`;
  const result = sql`select jsonb_build_object('outcome', c.outcome, 'limit', c.agent_limit,
    'agent', (select ${agentJson(viewer)} from a)) as result from checked c
    union all select null where not exists (select from checked)`;
  // The agent's row too: a certification of it that is just given is then seen.
  const lock = sql`with accounts as (${lockAccounts(accountOfAgent(agentId))})
    select from ${agents} a where a.id = ${agentId}::uuid and (select count(*) from accounts) >= 0 for no key update`;
  const outcome = await writeJson<Outcome | null>(ctx, ctes, result, lock).catch(refuseTakenName);
  ctx.cache.invalidate("board");
  return judge(outcome);
}

/** SQL: what a change does to a registration: one without a manifest ends, one that may no longer match is stale. */
function registryStatus({ manifest_url }: z.output<typeof AgentUpdate>): SQL {
  const manifest = manifest_url === undefined ? sql`a.manifest_url` : sql`${manifest_url}::text`;
  return sql`case
    when ${manifest} is null then 'unregistered'
    when a.registry_status = 'registered' and (${manifest}, c.new_endpoint) is distinct from (a.manifest_url, a.endpoint)
      then 'stale'
    else a.registry_status end`;
}

function assignments(input: z.output<typeof AgentUpdate>): SQL[] {
  const plain = [
    "name",
    "description",
    "agent_protocol",
    "is_public",
    "allow_trial",
    "variant_of",
    "provider_url",
    "manifest_url",
    "is_active",
  ] as const;
  const set = plain
    .filter((field) => input[field] !== undefined)
    .map((field) => sql`${sql.identifier(field)} = ${input[field]}`);
  if (input.declared_configuration !== undefined) {
    const value = input.declared_configuration === null ? null : JSON.stringify(input.declared_configuration);
    set.push(sql`declared_configuration = ${value}::jsonb`);
  }
  return set.length === 0 ? [sql`name = a.name`] : set;
}

function judge(outcome: Outcome | null): AgentRow {
  switch (outcome?.outcome) {
    case undefined:
      throw notFound("agent");
    case "forbidden":
      throw new Problem("forbidden", "Only the owner, or an editor of its workspace, may change this agent.");
    case "retired":
      throw retired();
    case "no_endpoint":
      throw bodyProblem("validation_failed", "/endpoint", "The mode http_endpoint needs an endpoint.");
    case "quota":
      throw agentQuota(outcome.limit, outcome.limit);
    case "bad_root":
      throw badRoot();
    default:
      return outcome?.agent as AgentRow;
  }
}
