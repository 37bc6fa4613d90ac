import { sql } from "drizzle-orm";
import { scorecards } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { assertRight } from "../teams/right.ts";
import { may } from "../teams/rights.ts";
import { refuseTemplate, scorecardOwner } from "./view.ts";

/** Throws 404 for a scorecard that is not visible, `forbidden` for a template and where the caller may not change it. */
export async function assertScorecardRight(ctx: Context, { userId }: UserPrincipal, id: string): Promise<void> {
  refuseTemplate(id);
  await assertRight(
    ctx,
    "scorecard",
    sql`select ${may("edit", userId, scorecardOwner)} as allowed from ${scorecards} s
      where s.id = ${id}::uuid and ${may("see", userId, scorecardOwner)}`,
  );
}
