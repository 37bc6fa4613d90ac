import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { change } from "../db/change.ts";
import { scorecards } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { EDITING, editableScorecard, notEditor, refuseTemplate } from "./view.ts";

/** Deletes a scorecard for good. Throws 404 for one that is not visible, 403 for a template and without the right. */
export async function removeScorecard(ctx: Context, { userId }: UserPrincipal, id: string): Promise<void> {
  refuseTemplate(id);
  await change(ctx, {
    parts: sql`with target as (${editableScorecard(userId, id)}), removed as (
      delete from ${scorecards} s using target t where s.id = t.id and t.outcome = 'done'
    )`,
    result: sql`select jsonb_build_object('outcome', t.outcome) as result from target t`,
    verdict: EDITING,
    done: z.object({}),
    refusals: { not_found: () => notFound("scorecard"), forbidden: notEditor },
  });
}

/** SQL: a part of a statement that deletes the scorecards of the workspaces in `teamIds`, a query of ids. */
export function removeScorecardsOfTeams(teamIds: SQL): SQL {
  return sql`delete from ${scorecards} s where s.team_id in (${teamIds})`;
}
