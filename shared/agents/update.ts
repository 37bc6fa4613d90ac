import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { change, telling, verdict } from "../db/change.ts";
import { agents } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { bodyProblem, notFound, Problem } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { accountOfAgent, lockAccounts } from "./account.ts";
import { noTarget, sealHeader } from "./auth-header.ts";
import { checkUrls, isRetired, noEndpoint, retired } from "./connection.ts";
import { agentQuota, badRoot, refuseTakenName } from "./create.ts";
import type { AgentUpdate } from "./schemas.ts";
import { agentOwner, retiredMode, visibleAgent } from "./conditions.ts";
import { agentQuotaOf } from "./quota.ts";
import { AgentRow, agentJson } from "./view.ts";

/**
 * Changes the fields that are given. An agent of a retired mode takes no change until `clear_customer_llm_key` gives the
 * mode up; then it is `mock` until it is connected. An endpoint connects it, as it does a `mock` one, unless a mode is given
 * beside it. A simulated agent is not certified: `endCertifications` is the SQL part that ends the certifications of agents
 * (a query of their ids). Throws 404, 403, `duplicate_name`, `endpoint_not_allowed`, `provider_custody_retired`,
 * `invalid_variant`, `quota_exceeded` (when an agent is activated again), and 422 for another origin of the endpoint of an
 * agent with a header, unless that is given with it.
 */
export async function updateAgent(
  ctx: Context,
  principal: UserPrincipal,
  agentId: string,
  input: z.output<typeof AgentUpdate>,
  endCertifications: (agentIds: SQL) => SQL,
): Promise<AgentRow> {
  if (isRetired(input.connection_mode)) throw retired();
  const checked = await checkUrls(ctx, input);
  const viewer = principal.userId;
  const clear = input.clear_customer_llm_key === true;
  const endpoint = "endpoint" in checked ? sql`${checked.endpoint ?? null}::text` : sql`a.endpoint`;
  // Whoever may change the endpoint must not lead the header, which nobody can read, to a server of their own.
  const moved = sql`t.new_endpoint is not null and ${originOf(sql`t.new_endpoint`)} is distinct from ${originOf(sql`t.endpoint`)}`;
  const mode = sql`case
    when ${input.connection_mode ?? null}::text is not null then ${input.connection_mode ?? null}::text
    when ${typeof checked.endpoint === "string"} then 'http_endpoint'
    when ${clear} and ${retiredMode} then 'mock'
    else a.connection_mode end`;
  const isActivated = sql`${input.is_active === true} and not a.is_active`;
  const updating = verdict({
    forbidden: sql`not t.allowed`,
    retired: sql`t.is_retired and not ${clear}`,
    no_endpoint: sql`t.new_mode = 'http_endpoint' and t.new_endpoint is null`,
    quota: sql`t.used >= t.agent_limit`,
    bad_root: isBadRoot(input.variant_of ?? null),
    no_target: sql`${input.auth_header != null} and t.new_endpoint is null`,
    header_stays: sql`${checked.auth_header === undefined} and t.auth_header is not null and ${moved}`,
  });
  const { agent } = await change(ctx, {
    // The agent's row too: a certification that was given just before is then seen.
    lock: sql`with accounts as (${lockAccounts(accountOfAgent(agentId))})
      select from ${agents} a where a.id = ${agentId}::uuid and (select count(*) from accounts) >= 0 for no key update`,
    parts: sql`with target as (
      select a.*, ${may("edit", viewer, agentOwner)} as allowed, ${retiredMode} as is_retired, ${mode} as new_mode,
        ${endpoint} as new_endpoint, quota.agent_limit, quota.used
      from ${agents} a cross join ${agentQuotaOf(ctx.now(), agentOwner, isActivated)}
      where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}
    ), checked as (select t.*, ${updating.sql} as outcome from target t
    ), a as (
      update ${agents} a set ${sql.join(assignments(checked), sql`, `)},
        connection_mode = c.new_mode, endpoint = c.new_endpoint, auth_header = ${authHeader(ctx, checked)}, registry_status = ${registryStatus(checked)},
        customer_llm_provider = ${clear ? sql`null` : sql`a.customer_llm_provider`}, updated_at = now(),
        verified_state = case when c.new_mode = 'mock' and a.verified_state = 'certified' then 'verified'
          else a.verified_state end
      from checked c where a.id = c.id and c.outcome = 'done' returning a.*
    ), uncertified as (${endCertifications(sql`select id from a where connection_mode = 'mock'`)})`,
    result: sql`select jsonb_build_object('outcome', c.outcome, 'limit', c.agent_limit, 'used', c.used,
      'agent', (select ${agentJson(viewer)} from a)) as result from checked c`,
    verdict: updating,
    done: z.object({ agent: AgentRow }),
    refusals: {
      not_found: () => notFound("agent"),
      forbidden: () =>
        new Problem("forbidden", "Only the owner, or an editor of its workspace, may change this agent."),
      retired,
      no_endpoint: noEndpoint,
      quota: telling(AgentQuota, ({ limit, used }) => agentQuota(limit, used)),
      bad_root: badRoot,
      no_target: noTarget,
      header_stays: () =>
        bodyProblem(
          "validation_failed",
          "/auth_header",
          "The header belongs to the endpoint's present origin; give it anew for this one, or null to send none.",
        ),
    },
  }).catch((error: unknown) => refuseTakenName(error, input.name !== undefined));
  ctx.cache.invalidate("board");
  return agent;
}

const AgentQuota = z.object({ limit: z.int(), used: z.int() });

/** SQL: scheme, host and port of a URL in its normal form. */
function originOf(url: SQL): SQL {
  return sql`substring(${url} from '^[^:]+://[^/?#]+')`;
}

/** SQL: the header of the agent row `a` after a change to the row `c`: without an endpoint there is none. */
function authHeader({ env }: Context, { auth_header: header }: z.output<typeof AgentUpdate>): SQL {
  const given = header == null ? null : JSON.stringify(sealHeader(header, env));
  const next = header === undefined ? sql`a.auth_header` : sql`${given}::jsonb`;
  return sql`case when c.new_endpoint is not null then ${next} end`;
}

/** SQL: whether `root` is given but can't be the root of the agent row `t`, or the agent is the root of others. */
function isBadRoot(root: string | null): SQL {
  const ofSameOwner = sql`coalesce(o.team_id, o.user_id) = coalesce(t.team_id, t.user_id)`;
  return sql`${root}::uuid is not null and (${root}::uuid = t.id
    or exists (select from ${agents} o where o.variant_of = t.id and ${ofSameOwner})
    or not exists (select from ${agents} o
      where o.id = ${root}::uuid and o.is_active and o.variant_of is null and ${ofSameOwner}))`;
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
    "publish_answers",
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
