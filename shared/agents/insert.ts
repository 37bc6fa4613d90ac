import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { planLimit } from "../billing/plans.ts";
import { agents, users } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import type { Finding } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { accountOf, lockAccounts } from "./account.ts";
import { checkUrls, modeOf } from "./connection.ts";
import type { AgentCreate, AgentRead } from "./schemas.ts";

/** An agent to be made, its URLs and mode judged. */
export type NewAgent = z.output<typeof AgentCreate> & {
  connection_mode: "http_endpoint" | "mock";
  registry_status?: z.output<typeof AgentRead>["registry_status"];
};

/** An agent that was refused; `limit` (null is unlimited) and `used` are its owner's, before all of them. */
export interface Refused {
  outcome: "no_team" | "forbidden" | "bad_root" | "duplicate" | "quota";
  limit: number | null;
  used: number;
}

/** What became of one agent. */
export type Placed<T> = { outcome: "created"; agent: T } | { outcome: "invalid"; errors: Finding[] } | Refused;

/** Judges mode and URLs of an agent; throws `provider_custody_retired`, `endpoint_not_allowed`, 422. */
export async function judgeInput(
  dns: Pick<Context, "env" | "resolver">,
  input: z.output<typeof AgentCreate>,
): Promise<NewAgent> {
  const connection_mode = modeOf(input);
  return { ...(await checkUrls(dns, input)), connection_mode };
}

/**
 * Makes agents for the caller and the caller's workspaces in one statement, as if one after the other: each is made or
 * refused on its own. What carries `errors` is `invalid` and takes nothing. Each that is made is given back as the SQL
 * expression `shown` has it of the row `a`. In the order of the input.
 */
export async function insertAgents<T>(
  ctx: Context,
  principal: UserPrincipal,
  rows: readonly (NewAgent | { errors: Finding[] })[],
  shown: SQL,
): Promise<Placed<T>[]> {
  const viewer = principal.userId;
  const caller = sql`${viewer}::uuid`;
  const owner = { user_id: caller, team_id: sql`s.team_id` };
  const input = JSON.stringify(rows.map((row, index) => ({ ...row, index })));
  const ctes = sql`with input as (
    select * from jsonb_to_recordset(${input}::jsonb) as r(index integer, errors jsonb, name text, description text,
      connection_mode text, endpoint text, agent_protocol text, provider_url text, manifest_url text,
      declared_configuration jsonb, variant_of uuid, is_public boolean, allow_trial boolean, registry_status text,
      team_id uuid)
  ), scope as (
    select s.team_id, coalesce(s.team_id, ${caller}) as owner_id, ${may("see", viewer, owner)} as seen,
      ${may("edit", viewer, owner)} as allowed, ${planLimit(sql`u.plan`, "agents")} as agent_limit,
      (select count(*) from ${agents} a
        where a.is_active and coalesce(a.team_id, a.user_id) = coalesce(s.team_id, ${caller}))::integer as used
    from (select distinct team_id from input) s join ${users} u on u.id = ${accountOf(owner)}
  ), judged as (
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
    from judged where refusal is null
  ), ranked as (
    select index, first, dense_rank() over (partition by owner_id order by first) as place from named
  ), checked as (
    select j.*, uuidv7() as id, case
      when refusal is not null then refusal
      when place > agent_limit - used then 'quota'
      when first < index then 'duplicate'
      else 'created' end as outcome
    from judged j left join ranked r using (index)
  ), a as (
    insert into ${agents} (id, user_id, team_id, name, description, connection_mode, endpoint, agent_protocol,
      provider_url, manifest_url, declared_configuration, variant_of, is_public, allow_trial, registry_status)
    select id, ${caller}, team_id, name, coalesce(description, ''), connection_mode, endpoint,
      coalesce(agent_protocol, 'native'), provider_url, manifest_url, declared_configuration, variant_of,
      coalesce(is_public, true), coalesce(allow_trial, false), coalesce(registry_status, 'unregistered')
    from checked where outcome = 'created' order by index
    on conflict do nothing returning *
  )`;
  // A name can still be taken by an agent that changed hands meanwhile: then its row is not there.
  const result = sql`select coalesce(jsonb_agg(jsonb_build_object(
      'outcome', case when c.outcome = 'created' and a.id is null then 'duplicate' else c.outcome end,
      'errors', c.errors, 'limit', c.agent_limit, 'used', c.used,
      'agent', case when a.id is not null then ${shown} end) order by c.index), '[]') as result
    from checked c left join a on a.id = c.id`;
  const teamIds = rows.flatMap((row) => ("errors" in row ? [] : [row.team_id ?? null]));
  const accounts = sql`select ${accountOf({ user_id: caller, team_id: sql`e.team_id::uuid` })}
    from jsonb_array_elements_text(${JSON.stringify(teamIds)}::jsonb) as e(team_id)`;
  return writeJson<Placed<T>[]>(ctx, ctes, result, lockAccounts(accounts));
}
