import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { change } from "../db/change.ts";
import { scorecards } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import type { ScorecardUpdate } from "./schemas.ts";
import { type Scorecard, ScorecardRead } from "./shown.ts";
import { EDITING, editableScorecard, notEditor, refuseTakenName, refuseTemplate, scorecardJson } from "./view.ts";
import { normalised } from "./weights.ts";

/**
 * Changes the fields that are given; weights are given together. Throws 404 for a scorecard that is not visible, 403 for
 * a template and without the right, `duplicate_name`.
 */
export async function updateScorecard(
  ctx: Context,
  { userId }: UserPrincipal,
  id: string,
  input: z.output<typeof ScorecardUpdate>,
): Promise<Scorecard> {
  refuseTemplate(id);
  const { scorecard } = await change(ctx, {
    parts: sql`with target as (${editableScorecard(userId, id)}), s as (
      update ${scorecards} s set ${sql.join(assignments(input), sql`, `)}
      from target t where s.id = t.id and t.outcome = 'done' returning s.*
    )`,
    result: sql`select jsonb_build_object('outcome', t.outcome,
      'scorecard', (select ${scorecardJson} from s)) as result from target t`,
    verdict: EDITING,
    done: z.object({ scorecard: ScorecardRead }),
    refusals: { not_found: () => notFound("scorecard"), forbidden: notEditor },
  }).catch(refuseTakenName);
  return scorecard;
}

function assignments({ name, weights }: z.output<typeof ScorecardUpdate>): SQL[] {
  const parts = weights === undefined ? [] : Object.entries(normalised(weights));
  return [
    name === undefined ? sql`name = s.name` : sql`name = ${name}`,
    ...parts.map(([axis, weight]) => sql`${sql.identifier(axis)} = ${weight}::float8`),
  ];
}
