import { sql } from "drizzle-orm";
import { scorecards } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { findTemplate } from "./templates.ts";
import { scorecardJson, scorecardOwner, type ScorecardRow } from "./view.ts";

/** A template, or a scorecard of the caller or of a workspace of the caller's; throws 404 for any other. */
export async function readScorecard(ctx: Context, principal: UserPrincipal, id: string): Promise<ScorecardRow> {
  const found =
    findTemplate(id) ??
    (await readJson<ScorecardRow>(
      ctx,
      sql`select ${scorecardJson} as result from ${scorecards} s
        where s.id = ${id}::uuid and ${may("see", principal.userId, scorecardOwner)}`,
    ));
  if (found === null) throw notFound("scorecard");
  return found;
}
