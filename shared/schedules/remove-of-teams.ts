import { type SQL, sql } from "drizzle-orm";
import { agents, screening_schedules } from "../db/schema/index.ts";

/** SQL: a part of a statement that deletes the schedules of the agents of the workspaces in `teamIds`, a query of ids. */
export function removeSchedulesOfTeams(teamIds: SQL): SQL {
  return sql`delete from ${screening_schedules} s using ${agents} a where s.agent_id = a.id and a.team_id in (${teamIds})`;
}
