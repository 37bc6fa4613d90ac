import { type SQL, sql } from "drizzle-orm";
import { scorecards } from "../db/schema/index.ts";

/** SQL: a part of a statement that deletes the scorecards of the workspaces in `teamIds`, a query of ids. */
export function removeScorecardsOfTeams(teamIds: SQL): SQL {
  return sql`delete from ${scorecards} s where s.team_id in (${teamIds})`;
}
