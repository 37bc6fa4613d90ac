import { sql } from "drizzle-orm";
import type * as z from "zod";
import { teams } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import type { TeamUpdate } from "./schemas.ts";
import { noTeam, notAllowed, roleOf, teamFor, teamJson, type TeamRow } from "./view.ts";

/** Renames a workspace; throws 404, and `forbidden` without the right. */
export async function updateTeam(
  ctx: Context,
  userId: string,
  teamId: string,
  input: z.output<typeof TeamUpdate>,
): Promise<TeamRow> {
  const result = await readJson<{ team: TeamRow | null }>(
    ctx,
    sql`with target as (${teamFor("own", userId, teamId)}), t as (
      update ${teams} t set name = coalesce(${input.name ?? null}::text, t.name)
      from target g where t.id = g.id and g.allowed returning t.*
    ) select jsonb_build_object('team', (select ${teamJson(ctx, roleOf(userId))} from t)) as result from target`,
  );
  if (result === null) throw noTeam();
  if (result.team === null) throw notAllowed("renaming it");
  return result.team;
}
