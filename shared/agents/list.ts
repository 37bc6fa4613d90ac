import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { COUNTED, type Listing, pageParts, totalJson } from "../db/listing.ts";
import { pageResult } from "../db/page-result.ts";
import { agents } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { conflicting, notFound, Problem } from "../platform/problem.ts";
import { may, ofOwners, ownerOf } from "../teams/rights.ts";
import { AgentRow, agentJson, agentOwner, NOTHING_MORE } from "./view.ts";

/** What a list of agents is narrowed to. */
export interface AgentFilter {
  scope?: "personal" | undefined;
  team_id?: string | undefined;
  active_only: boolean;
  page: number;
  page_size: number;
}

/**
 * A page of agents, newest first: a signed-in caller's own (personal and of the caller's workspaces), or one scope of
 * them; for anybody else the public ones. Throws `conflicting_parameters`, `unauthenticated` for a scope without an
 * account, 404 for a workspace that is not the caller's.
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
): Promise<{ items: z.output<Row>[]; total: number; total_is_capped?: true | undefined }> {
  const viewer = viewerId(principal);
  const { scope, team_id: teamId } = filter;
  if (scope !== undefined && teamId !== undefined) throw conflicting(["scope", "team_id"]);
  if (viewer === null && (scope !== undefined || teamId !== undefined)) {
    throw new Problem("unauthenticated", "scope and team_id need an account; sign in.");
  }
  const team = { user_id: sql`null::uuid`, team_id: sql`${teamId ?? null}::uuid` };
  const result = await read(
    ctx,
    pageResult(row).extend({ visible: z.boolean() }),
    sql`with ${pageParts(listing(viewer, filter), filter)}
    select ${totalJson} || jsonb_build_object(
      'visible', ${teamId === undefined ? sql`true` : may("see", viewer, team)},
      'items', coalesce((select jsonb_agg(${agentJson(viewer)} || ${more} order by a.created_at desc, a.id desc)
        from paged p join ${agents} a on a.id = p.id), '[]')
    ) as result`,
  );
  if (result === null || !result.visible) throw notFound("workspace");
  return result;
}

function listing(viewer: string | null, { scope, team_id: teamId, active_only: activeOnly }: AgentFilter): Listing {
  const order = sql`created_at desc, id desc`;
  const key = sql`select a.id, a.created_at from ${agents} a`;
  if (viewer === null) {
    return { order, most: COUNTED.byIndex, scans: (cut) => [sql`${key} where a.is_public and a.is_active ${cut}`] };
  }
  const owned = (owner: SQL, isActive: boolean, cut: SQL) =>
    sql`${key} where ${ownerOf(agentOwner)} = ${owner} and a.is_active = ${isActive} ${cut}`;
  const inScope = (isActive: boolean, cut: SQL) => {
    if (teamId !== undefined) return owned(sql`${teamId}::uuid`, isActive, cut);
    if (scope === "personal") return owned(sql`${viewer}::uuid`, isActive, cut);
    return ofOwners("see", viewer, (owner) => owned(owner, isActive, cut));
  };
  // The index has an owner's active agents and the others apart, each newest first.
  const most = COUNTED.byRow;
  return {
    order,
    most,
    scans: (cut) => (activeOnly ? [inScope(true, cut)] : [inScope(true, cut), inScope(false, cut)]),
  };
}
