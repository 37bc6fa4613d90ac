import { sql } from "drizzle-orm";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { noTeam, roleOf, teamFor, teamJson, type TeamRow } from "./view.ts";

/** One workspace of the account; throws 404 for one that it is no member of. */
export async function readTeam(ctx: Context, userId: string, teamId: string): Promise<TeamRow> {
  const team = await readJson<TeamRow>(
    ctx,
    sql`select ${teamJson(ctx, roleOf(userId))} as result from (${teamFor("see", userId, teamId)}) t`,
  );
  if (team === null) throw noTeam();
  return team;
}
