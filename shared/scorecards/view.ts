import { type SQL, sql } from "drizzle-orm";
import { verdict } from "../db/change.ts";
import { databaseFailure } from "../db/client.ts";
import { columnsJson } from "../db/json.ts";
import { scorecards } from "../db/schema/index.ts";
import { bodyProblem, Problem } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { AXES } from "./shown.ts";
import { findTemplate } from "./templates.ts";

/** The owner columns of the scorecard row `s`, for `may`. */
export const scorecardOwner = { user_id: sql`s.user_id`, team_id: sql`s.team_id` };

/** SQL: the JSON of the scorecard row `s`. */
export const scorecardJson: SQL = sql`json_build_object('id', s.id, 'name', s.name, 'weights', ${columnsJson("s", AXES)},
  'team_id', s.team_id, 'is_template', false, 'created_at', s.created_at)`;

/** The verdict of a change to the scorecard row `s`. */
export const EDITING = verdict({ forbidden: sql`not s.allowed` });

/** SQL: a query that locks a scorecard which the viewer sees: its id, and the `outcome` that EDITING gives. */
export function editableScorecard(viewer: string, id: string): SQL {
  return sql`select s.id, ${EDITING.sql} as outcome from (
      select s.id, ${may("edit", viewer, scorecardOwner)} as allowed from ${scorecards} s
      where s.id = ${id}::uuid and ${may("see", viewer, scorecardOwner)} for update of s
    ) s`;
}

/** Throws `duplicate_name` where the database refused a change because another scorecard has the name; else the error itself. */
export function refuseTakenName(error: unknown): never {
  if (databaseFailure(error)?.constraint !== "scorecards_name_key") throw error;
  throw bodyProblem("duplicate_name", "/name", "Another scorecard of this owner has the name; choose another.");
}

/** Throws the 403 for a change to a template. */
export function refuseTemplate(id: string): void {
  if (findTemplate(id) === null) return;
  throw new Problem("forbidden", "A template can't be changed; create a scorecard with its weights instead.");
}

/** The 403 for somebody who sees the scorecards of a workspace and may not change them. */
export function notEditor(): Problem {
  return new Problem("forbidden", "Only an editor of the workspace may create, change or delete its scorecards.");
}
