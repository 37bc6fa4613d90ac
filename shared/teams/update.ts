import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../db/change.ts";
import { teams } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import type { TeamUpdate } from "./schemas.ts";
import { TeamRead } from "./shown.ts";
import { takeTurn } from "./turns.ts";
import { noTeam, notAllowed, roleOf, teamFor, teamJson } from "./view.ts";

const RENAMING = verdict({ forbidden: sql`not t.allowed` });

/** Renames a workspace; throws 404, and `forbidden` without the right. */
export async function updateTeam(
  ctx: Context,
  { userId }: UserPrincipal,
  teamId: string,
  input: z.output<typeof TeamUpdate>,
): Promise<z.output<typeof TeamRead>> {
  const { team } = await change(ctx, {
    lock: takeTurn(sql`${teamId}::uuid`, userId),
    parts: sql`with target as (
      select t.id, ${RENAMING.sql} as outcome from (${teamFor("own", userId, teamId)}) t
    ), t as (
      update ${teams} t set name = coalesce(${input.name ?? null}::text, t.name) from target g
      where t.id = g.id and g.outcome = 'done' returning t.*
    )`,
    result: sql`select jsonb_build_object('outcome', g.outcome,
      'team', (select ${teamJson(ctx, roleOf(userId))} from t)) as result from target g`,
    verdict: RENAMING,
    done: z.object({ team: TeamRead }),
    refusals: { not_found: noTeam, forbidden: () => notAllowed("renaming it") },
  });
  return team;
}
