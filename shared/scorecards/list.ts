import { type SQL, sql } from "drizzle-orm";
import { pageJson, shortParts, UNLIMITED } from "../db/listing.ts";
import { pageResult, readPage } from "../db/page-result.ts";
import { scorecards } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { may, ofOwners } from "../teams/rights.ts";
import { type Scorecard, ScorecardRead } from "./shown.ts";
import { scorecardJson } from "./view.ts";

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
  { userId }: UserPrincipal,
  { team_id: teamId, ...paging }: ScorecardFilter,
): Promise<{ items: Scorecard[]; total: number }> {
  const team = { user_id: sql`null::uuid`, team_id: sql`${teamId ?? null}::uuid` };
  const visible = teamId === undefined ? sql`true` : may("see", userId, team);
  const scan = (owner: SQL): SQL => sql`select s.* from ${scorecards} s where coalesce(s.team_id, s.user_id) = ${owner}
    order by lower(s.name) ${UNLIMITED}`;
  const hits = teamId === undefined ? ofOwners("see", userId, scan) : scan(team.team_id);
  const order = sql`s.created_at desc, s.id desc`;
  const items = sql`(select json_agg(${scorecardJson} order by ${order}) from paged s)`;
  const result = await readPage(
    ctx,
    pageResult(ScorecardRead),
    paging,
    (stretch) =>
      sql`with ${shortParts(hits, "s", order, stretch)} select ${pageJson(items)} as result where ${visible}`,
  );
  if (result === null) throw notFound("workspace");
  return result;
}
