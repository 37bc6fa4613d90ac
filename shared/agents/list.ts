import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { COUNTED, type Listing, pageJson, pageParts, type Stretch, union } from "../db/listing.ts";
import { type NamedList, namedParts } from "../db/names.ts";
import { pageResult, readPage } from "../db/page-result.ts";
import { agents } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { conflicting, notFound, Problem } from "../platform/problem.ts";
import { may, ofOwners, ownerOf } from "../teams/rights.ts";
import { agentOwner } from "./conditions.ts";
import { AgentRow, agentJson, NOTHING_MORE } from "./view.ts";

/** In which orders agents can be listed. */
export const AGENT_SORTS = ["-created_at", "created_at", "name", "-name"] as const;
type AgentSort = (typeof AGENT_SORTS)[number];

/** What a list of agents is narrowed to. */
export interface AgentFilter {
  scope?: "personal" | undefined;
  team_id?: string | undefined;
  active_only: boolean;
  /** A URL: the agents alone that are called there. */
  endpoint?: string | undefined;
  q?: string | undefined;
  sort?: AgentSort | undefined;
  page: number;
  page_size: number;
}

/**
 * A page of agents, newest first or as `sort` says: a signed-in caller's own (personal and of the caller's workspaces), or one scope of
 * them; for anybody else the public ones. Throws `conflicting_parameters`, `unauthenticated` for a scope or an endpoint,
 * which nobody else is shown, without an account, 404 for a workspace that is not the caller's.
 */
export function listAgents(ctx: Context, principal: Principal, filter: AgentFilter) {
  return listAgentsWith(ctx, principal, filter, NOTHING_MORE, AgentRow);
}

/**
 * A page of agents as `listAgents` reads it, and in the same round trip what another domain knows of each: `more` is a JSON
 * object of the agent row `a` (SQL) whose members are added, and `row` parses both together.
 */
export async function listAgentsWith<Row extends z.ZodType>(
  ctx: Context,
  principal: Principal,
  filter: AgentFilter,
  more: SQL,
  row: Row,
): Promise<{ items: z.output<Row>[]; total: number; total_is_capped?: true | null | undefined }> {
  const viewer = viewerId(principal);
  const { scope, team_id: teamId, endpoint } = filter;
  if (scope !== undefined && teamId !== undefined) throw conflicting(["scope", "team_id"]);
  if (viewer === null && (scope !== undefined || teamId !== undefined || endpoint !== undefined)) {
    throw new Problem("unauthenticated", "scope, team_id and endpoint need an account; sign in.");
  }
  const team = { user_id: sql`null::uuid`, team_id: sql`${teamId ?? null}::uuid` };
  const items = sql`(select json_agg(${agentJson(viewer)} || ${more} order by p.place)
    from placed p join ${agents} a on a.id = p.id)`;
  const result = await readPage(
    ctx,
    pageResult(row),
    filter,
    (stretch) => sql`with ${partsOf(viewer, filter, stretch)}, placed as (
      select id, row_number() over (order by ${orderOf(filter)}) as place from paged
    )
    select ${pageJson(items)} as result where ${teamId === undefined ? sql`true` : may("see", viewer, team)}`,
  );
  if (result === null) throw notFound("workspace");
  return result;
}

function orderOf({ sort = "-created_at" }: AgentFilter): SQL {
  const direction = sort.startsWith("-") ? sql`desc` : sql`asc`;
  return sql`${sql.identifier(sort.replace("-", ""))} ${direction}, id ${direction}`;
}

/** SQL: what tells an agent's place in the list: names as they are in the indexes, which know no language. */
function keyOf({ sort = "-created_at" }: AgentFilter): SQL {
  return sort.endsWith("name") ? sql`a.id, lower(a.name) collate "C" as name` : sql`a.id, a.created_at`;
}

function partsOf(viewer: string | null, filter: AgentFilter, stretch: Stretch): SQL {
  const { q } = filter;
  return q === undefined ? pageParts(listing(viewer, filter), stretch) : namedParts(search(viewer, filter, q), stretch);
}

function listing(viewer: string | null, filter: AgentFilter): Listing {
  return {
    order: orderOf(filter),
    most: viewer === null ? COUNTED.byIndex : COUNTED.byRow,
    scans: (cut) => scans(viewer, filter, keyOf(filter), cut),
  };
}

function search(viewer: string | null, filter: AgentFilter, q: string): NamedList {
  return {
    q,
    order: orderOf(filter),
    columns: sql`id, ${sql.identifier(filter.sort?.endsWith("name") === true ? "name" : "created_at")}`,
    inOrder: (cut, named) =>
      sql`select * from (${union(scans(viewer, filter, sql`${keyOf(filter)}, ${named(sql`a.name`)} as is_named`, cut))}) x ${cut}`,
    byName: (named) =>
      sql`select ${keyOf(filter)} from ${agents} a where ${named(sql`a.name`)} and ${listed(viewer, filter)}`,
  };
}

/** SQL: the scans that find a list of agents `a`. The index has an owner's active agents and the others apart. */
function scans(viewer: string | null, filter: AgentFilter, columns: SQL, cut: SQL): readonly [SQL, ...SQL[]] {
  const key = sql`select ${columns} from ${agents} a`;
  if (viewer === null) return [sql`${key} where a.is_public and a.is_active ${cut}`];
  const { scope, team_id: teamId, active_only: activeOnly } = filter;
  const owned = (owner: SQL, isActive: boolean) =>
    sql`${key} where ${ownerOf(agentOwner)} = ${owner} and a.is_active = ${isActive} ${calledAt(filter)} ${cut}`;
  const inScope = (isActive: boolean) => {
    if (teamId !== undefined) return owned(sql`${teamId}::uuid`, isActive);
    if (scope === "personal") return owned(sql`${viewer}::uuid`, isActive);
    return ofOwners("see", viewer, (owner) => owned(owner, isActive));
  };
  return activeOnly ? [inScope(true)] : [inScope(true), inScope(false)];
}

/** SQL: a further condition of the agent row `a`, by the hash that an index has of its endpoint, which may be too long for one. */
function calledAt({ endpoint }: AgentFilter): SQL {
  if (endpoint === undefined) return sql``;
  const { href } = new URL(endpoint);
  return sql`and a.endpoint = ${href}::text and md5(a.endpoint) = md5(${href}::text)`;
}

/** SQL: the same list as a condition of the agent row `a`. */
function listed(viewer: string | null, filter: AgentFilter): SQL {
  const { scope, team_id: teamId, active_only: activeOnly } = filter;
  if (viewer === null) return sql`a.is_public and a.is_active`;
  const owner =
    teamId !== undefined
      ? sql`a.team_id = ${teamId}::uuid`
      : scope === "personal"
        ? sql`a.team_id is null and a.user_id = ${viewer}::uuid`
        : may("see", viewer, agentOwner);
  return sql`${owner} ${activeOnly ? sql`and a.is_active` : sql``} ${calledAt(filter)}`;
}
