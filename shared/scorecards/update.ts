import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { scorecards } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import type { ScorecardUpdate } from "./schemas.ts";
import {
  notEditor,
  refuseTakenName,
  refuseTemplate,
  scorecardJson,
  scorecardOwner,
  type ScorecardRow,
} from "./view.ts";
import { normalised } from "./weights.ts";

/**
 * Changes the fields that are given; weights are given together. Throws 404 for a scorecard that is not visible, 403 for
 * a template and without the right, `duplicate_name`.
 */
export async function updateScorecard(
  ctx: Context,
  principal: UserPrincipal,
  id: string,
  input: z.output<typeof ScorecardUpdate>,
): Promise<ScorecardRow> {
  refuseTemplate(id);
  const viewer = principal.userId;
  const outcome = await readJson<{ scorecard: ScorecardRow | null }>(
    ctx,
    sql`with target as (
      select s.id, ${may("edit", viewer, scorecardOwner)} as allowed from ${scorecards} s
      where s.id = ${id}::uuid and ${may("see", viewer, scorecardOwner)} for update of s
    ), s as (
      update ${scorecards} s set ${sql.join(assignments(input), sql`, `)}
      from target t where s.id = t.id and t.allowed returning s.*
    )
    select jsonb_build_object('scorecard', (select ${scorecardJson} from s)) as result from target`,
  ).catch(refuseTakenName);
  if (outcome === null) throw notFound("scorecard");
  if (outcome.scorecard === null) throw notEditor();
  return outcome.scorecard;
}

function assignments({ name, weights }: z.output<typeof ScorecardUpdate>): SQL[] {
  const parts = weights === undefined ? [] : Object.entries(normalised(weights));
  return [
    name === undefined ? sql`name = s.name` : sql`name = ${name}`,
    ...parts.map(([axis, weight]) => sql`${sql.identifier(axis)} = ${weight}::float8`),
  ];
}
