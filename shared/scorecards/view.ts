import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { databaseFailure } from "../db/client.ts";
import { Problem } from "../platform/problem.ts";
import { columnsJson } from "../db/json.ts";
import { AXES, type ScorecardRead } from "./schemas.ts";
import { findTemplate } from "./templates.ts";

/** ScorecardRead as the database gives it. */
export type ScorecardRow = z.output<typeof ScorecardRead>;

/** The owner columns of the scorecard row `s`, for `may`. */
export const scorecardOwner = { user_id: sql`s.user_id`, team_id: sql`s.team_id` };

/** SQL: the JSON of the scorecard row `s`. */
export const scorecardJson: SQL = sql`jsonb_build_object('id', s.id, 'name', s.name, 'weights', ${columnsJson("s", AXES)},
  'team_id', s.team_id, 'is_template', false, 'created_at', s.created_at)`;

/** Throws `duplicate_name` for a change that the database refused as it would take a name, else the error itself. */
export function refuseTakenName(error: unknown): never {
  if (databaseFailure(error)?.constraint !== "scorecards_name_key") throw error;
  throw new Problem("duplicate_name", "Another scorecard of this owner has the name; choose another.");
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
