import { type SQL, sql } from "drizzle-orm";
import { agents } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { conflicting, notFound, Problem } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { type AgentRow, agentJson, agentOwner, NOTHING_MORE } from "./view.ts";

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
 * account, 404 for a workspace that is not the caller's. `more` is a JSON object of the agent row `a` (SQL) whose members,
 * of type `M`, are added to each.
 */
export async function listAgents<M extends object = object>(
  ctx: Context,
  principal: Principal,
  filter: AgentFilter,
  more: SQL = NOTHING_MORE,
): Promise<{ items: (AgentRow & M)[]; total: number }> {
  const viewer = viewerId(principal);
  const { scope, team_id: teamId, active_only: activeOnly, page, page_size: size } = filter;
  if (scope !== undefined && teamId !== undefined) throw conflicting(["scope", "team_id"]);
  if (viewer === null && (scope !== undefined || teamId !== undefined)) {
    throw new Problem("unauthenticated", "scope and team_id need an account; sign in.");
  }
  const condition = sql`${owned(viewer, scope, teamId)} ${activeOnly || viewer === null ? sql`and a.is_active` : sql``}`;
  const team = { user_id: sql`null::uuid`, team_id: sql`${teamId ?? null}::uuid` };
  const visible = teamId === undefined ? sql`true` : may("see", viewer, team);
  const result = await readJson<{ items: (AgentRow & M)[]; total: number; visible: boolean }>(
    ctx,
    sql`with hits as (select a.* from ${agents} a where ${condition}),
    paged as (select * from hits a order by a.created_at desc, a.id desc limit ${size} offset ${(page - 1) * size})
    select jsonb_build_object(
      'visible', ${visible},
      'total', (select count(*) from hits),
      'items', coalesce((select jsonb_agg(${agentJson(viewer)} || ${more} order by a.created_at desc, a.id desc) from paged a), '[]')
    ) as result`,
  );
  if (result === null || !result.visible) throw notFound("workspace");
  return result;
}

function owned(viewer: string | null, scope: "personal" | undefined, teamId: string | undefined): SQL {
  if (viewer === null) return sql`a.is_public`;
  if (teamId !== undefined) return sql`a.team_id = ${teamId}::uuid`;
  if (scope === "personal") return sql`a.user_id = ${viewer}::uuid and a.team_id is null`;
  return may("see", viewer, agentOwner);
}
