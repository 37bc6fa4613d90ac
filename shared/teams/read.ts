import { sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../db/change.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { TeamRead } from "./shown.ts";
import { noTeam, roleOf, teamFor, teamJson } from "./view.ts";

/** One of the caller's workspaces; throws 404 for one that the caller is not a member of. */
export async function readTeam(
  ctx: Context,
  { userId }: UserPrincipal,
  teamId: string,
): Promise<z.output<typeof TeamRead>> {
  const team = await read(
    ctx,
    TeamRead,
    sql`select ${teamJson(ctx, roleOf(userId))} as result from (${teamFor("see", userId, teamId)}) t`,
  );
  if (team === null) throw noTeam();
  return team;
}
