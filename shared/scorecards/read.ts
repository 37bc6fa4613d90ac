import { sql } from "drizzle-orm";
import { read } from "../db/change.ts";
import { scorecards } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { type Scorecard, ScorecardRead } from "./shown.ts";
import { findTemplate } from "./templates.ts";
import { scorecardJson, scorecardOwner } from "./view.ts";

/** A template, or a scorecard of the caller or of a workspace of the caller's; throws 404 for any other. */
export async function readScorecard(ctx: Context, { userId }: UserPrincipal, id: string): Promise<Scorecard> {
  const found =
    findTemplate(id) ??
    (await read(
      ctx,
      ScorecardRead,
      sql`select ${scorecardJson} as result from ${scorecards} s
        where s.id = ${id}::uuid and ${may("see", userId, scorecardOwner)}`,
    ));
  if (found === null) throw notFound("scorecard");
  return found;
}
