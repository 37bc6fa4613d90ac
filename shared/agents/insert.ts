import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { agents, users } from "../db/schema/index.ts";
import { actorId, type UserPrincipal, workspaceOf } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import type { Finding } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { accountOf, lockAccounts } from "./account.ts";
import { noTarget, sealHeader, type SealedHeader } from "./auth-header.ts";
import { checkUrls, modeOf } from "./connection.ts";
import { agentQuotaOf } from "./quota.ts";
import { type AgentCreate, RowFinding } from "./schemas.ts";
import type { AgentRead } from "./shown.ts";

/** An agent to be made, with its URLs and mode checked. */
export type NewAgent = Omit<z.output<typeof AgentCreate>, "auth_header"> & {
  connection_mode: "http_endpoint" | "mock";
  auth_header?: SealedHeader;
  registry_status?: z.output<typeof AgentRead>["registry_status"];
};

const Refused = z.object({
  outcome: z.enum(["no_team", "forbidden", "bad_root", "duplicate", "quota"]),
  limit: z.int().nullable(),
  used: z.int(),
});
/** An agent that was refused; `limit` (null is unlimited) and `used` are its owner's, before any was made. */
export type Refused = z.output<typeof Refused>;

const Placed = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("created"), agent: z.unknown() }),
  z.object({ outcome: z.literal("invalid"), errors: z.array(RowFinding) }),
  Refused,
]);
/** What became of one agent. */
export type Placed = z.output<typeof Placed>;

/** Checks the mode and the URLs of an agent, and encrypts its header; throws `provider_custody_retired`, `endpoint_not_allowed`, 422. */
export async function checkInput(
  dns: Pick<Context, "env" | "resolver">,
  { auth_header, ...input }: z.output<typeof AgentCreate>,
): Promise<NewAgent> {
  const connection_mode = modeOf(input);
  const checked = { ...(await checkUrls(dns, input)), connection_mode };
  if (auth_header !== undefined && checked.endpoint == null) throw noTarget();
  return auth_header === undefined ? checked : { ...checked, auth_header: sealHeader(auth_header, dns.env) };
}

/**
 * Makes agents for the caller and the caller's workspaces in one statement, as if one after the other: each is made or
 * refused on its own. A row that carries `errors` is `invalid` and counts for nothing. The results come in the order of
 * the rows; the `agent` of one that was made is what the SQL expression `shown` gives of its row `a`.
 */
export async function insertAgents(
  ctx: Context,
  principal: UserPrincipal,
  rows: readonly (NewAgent | { errors: Finding[] })[],
  shown: SQL,
): Promise<Placed[]> {
  const viewer = principal.userId;
  const [caller, actor] = [sql`${viewer}::uuid`, sql`${actorId(principal)}::uuid`];
  const owner = { user_id: caller, team_id: sql`s.team_id` };
  // What a workspace's key makes belongs to the workspace.
  const ours = { team_id: workspaceOf(principal) ?? undefined };
  const input = JSON.stringify(rows.map((row, index) => ({ ...ours, ...row, index })));
  const parts = sql`with input as (
    select * from jsonb_to_recordset(${input}::jsonb) as r(index integer, errors jsonb, name text, description text,
      connection_mode text, endpoint text, auth_header jsonb, agent_protocol text, provider_url text, manifest_url text,
      declared_configuration jsonb, variant_of uuid, is_public boolean, allow_trial boolean, registry_status text,
      team_id uuid)
  ), scope as (
    select s.team_id, coalesce(s.team_id, ${caller}) as owner_id, ${may("see", viewer, owner)} as seen,
      ${may("edit", viewer, owner)} as allowed, quota.agent_limit, quota.used
    from (select distinct team_id from input) s join ${users} u on u.id = ${accountOf(owner)}
      cross join ${agentQuotaOf(ctx.now(), owner)}
  ), candidates as (
    select i.*, s.owner_id, s.agent_limit, s.used, case
      when i.errors is not null then 'invalid'
      when not s.seen then 'no_team'
      when not s.allowed then 'forbidden'
      when i.variant_of is not null and not exists (select from ${agents} a where a.id = i.variant_of
        and a.is_active and a.variant_of is null and coalesce(a.team_id, a.user_id) = s.owner_id) then 'bad_root'
      when exists (select from ${agents} a where a.is_active and coalesce(a.team_id, a.user_id) = s.owner_id
        and lower(a.name) = lower(i.name)) then 'duplicate'
      end as refusal
    from input i join scope s on s.team_id is not distinct from i.team_id
  ), named as (
    select index, owner_id, min(index) over (partition by owner_id, lower(name)) as first
    from candidates where refusal is null
  ), ranked as (
    select index, first, dense_rank() over (partition by owner_id order by first) as place from named
  ), placed as (
    select c.*, uuidv7() as id, case
      when refusal is not null then refusal
      when place > agent_limit - used then 'quota'
      when first < index then 'duplicate'
      else 'created' end as outcome
    from candidates c left join ranked r using (index)
  ), a as (
    insert into ${agents} (id, user_id, team_id, name, description, connection_mode, endpoint, auth_header,
      agent_protocol, provider_url, manifest_url, declared_configuration, variant_of, is_public, allow_trial, registry_status)
    select id, ${actor}, team_id, name, coalesce(description, ''), connection_mode, endpoint, auth_header,
      coalesce(agent_protocol, 'native'), provider_url, manifest_url, declared_configuration, variant_of,
      coalesce(is_public, true), coalesce(allow_trial, false), coalesce(registry_status, 'unregistered')
    from placed where outcome = 'created' order by index
    on conflict do nothing returning *
  )`;
  // A name can still be taken by an agent that changed hands meanwhile: then its row is not there.
  const select = sql`select coalesce(jsonb_agg(jsonb_build_object(
      'outcome', case when p.outcome = 'created' and a.id is null then 'duplicate' else p.outcome end,
      'errors', p.errors, 'limit', p.agent_limit, 'used', p.used,
      'agent', case when a.id is not null then ${shown} end) order by p.index), '[]') as result
    from placed p left join a on a.id = p.id`;
  const teamIds = rows.flatMap((row) => ("errors" in row ? [] : [row.team_id ?? ours.team_id ?? null]));
  const accounts = sql`select ${accountOf({ user_id: caller, team_id: sql`e.team_id::uuid` })}
    from jsonb_array_elements_text(${JSON.stringify(teamIds)}::jsonb) as e(team_id)`;
  const placed = await write(ctx, { lock: lockAccounts(accounts), parts, select, result: z.array(Placed) });
  return placed ?? [];
}
