import { sql } from "drizzle-orm";
import { scorecards, team_members } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { scorecardJson, scorecardOwner, type ScorecardRow } from "./view.ts";

/** What a list of scorecards is narrowed to. */
export interface ScorecardFilter {
  team_id?: string | undefined;
  page: number;
  page_size: number;
}

/**
 * A page of scorecards, newest first: the caller's own and those of the caller's workspaces, or of one of them; without
 * the templates. Throws 404 for a workspace that is not the caller's.
 */
export async function listScorecards(
  ctx: Context,
  principal: UserPrincipal,
  { team_id: teamId, page, page_size: size }: ScorecardFilter,
): Promise<{ items: ScorecardRow[]; total: number }> {
  const viewer = principal.userId;
  const team = { user_id: sql`null::uuid`, team_id: sql`${teamId ?? null}::uuid` };
  const visible = teamId === undefined ? sql`true` : may("see", viewer, team);
  const owners =
    teamId === undefined
      ? sql`select ${viewer}::uuid union all select m.team_id from ${team_members} m where m.user_id = ${viewer}::uuid`
      : team.team_id;
  const result = await readJson<{ items: ScorecardRow[]; total: number; visible: boolean }>(
    ctx,
    sql`with hits as (
      select s.* from ${scorecards} s
      where coalesce(s.team_id, s.user_id) in (${owners}) and ${may("see", viewer, scorecardOwner)}
    ), paged as (
      select * from hits s order by s.created_at desc, s.id desc limit ${size} offset ${(page - 1) * size}
    )
    select jsonb_build_object('visible', ${visible}, 'total', (select count(*) from hits),
      'items', coalesce((select jsonb_agg(${scorecardJson} order by s.created_at desc, s.id desc) from paged s), '[]')
    ) as result`,
  );
  if (result === null || !result.visible) throw notFound("workspace");
  return result;
}
