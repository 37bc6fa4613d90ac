import { sql } from "drizzle-orm";
import { scorecards } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { notEditor, refuseTemplate, scorecardOwner } from "./view.ts";

/** Deletes a scorecard for good. Throws 404 for one that is not visible, 403 for a template and without the right. */
export async function removeScorecard(ctx: Context, principal: UserPrincipal, id: string): Promise<void> {
  refuseTemplate(id);
  const viewer = principal.userId;
  const allowed = await readJson<boolean>(
    ctx,
    sql`with target as (
      select s.id, ${may("edit", viewer, scorecardOwner)} as allowed from ${scorecards} s
      where s.id = ${id}::uuid and ${may("see", viewer, scorecardOwner)} for update of s
    ), gone as (
      delete from ${scorecards} s using target t where s.id = t.id and t.allowed
    )
    select to_jsonb(allowed) as result from target`,
  );
  if (allowed === null) throw notFound("scorecard");
  if (!allowed) throw notEditor();
}
