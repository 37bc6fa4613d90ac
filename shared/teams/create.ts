import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, telling, verdict } from "../db/change.ts";
import { team_members, teams, users } from "../db/schema/index.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import { planLimit } from "../plans/plans.ts";
import type { Context } from "../platform/context.ts";
import { endedMeanwhile } from "../platform/problem.ts";
import { TeamQuota, teamQuota, teamsUsed } from "./quota.ts";
import type { TeamCreate } from "./schemas.ts";
import { TeamRead } from "./shown.ts";
import { teamJson } from "./view.ts";

/** A plan without a limit has null as `team_limit`, which no number of workspaces reaches. */
const CREATION = verdict({ quota: sql`a.used >= a.team_limit` });

/** Creates a workspace of which the caller is the owner and the first member. Throws `quota_exceeded` by the caller's plan. */
export async function createTeam(
  ctx: Context,
  { userId }: SessionPrincipal,
  input: z.output<typeof TeamCreate>,
): Promise<z.output<typeof TeamRead>> {
  const { team } = await change(ctx, {
    lock: sql`select from ${users} where id = ${userId}::uuid for no key update`,
    parts: sql`with account as (
      select a.*, ${CREATION.sql} as outcome from (
        select u.id, ${planLimit(sql`u.plan`, "workspaces")} as team_limit, ${teamsUsed(ctx, sql`u.id`)} as used
        from ${users} u where u.id = ${userId}::uuid
      ) a
    ), t as (
      insert into ${teams} (name, owner_id)
      select ${input.name}, a.id from account a where a.outcome = 'done' returning *
    ), owner as (
      insert into ${team_members} (team_id, user_id, role) select t.id, t.owner_id, 'owner' from t
    )`,
    result: sql`select jsonb_build_object('outcome', a.outcome, 'limit', a.team_limit, 'used', a.used,
      'team', (select ${teamJson(ctx, sql`'owner'`, sql`1`)} from t)) as result from account a`,
    verdict: CREATION,
    done: z.object({ team: TeamRead }),
    refusals: { not_found: endedMeanwhile, quota: telling(TeamQuota, teamQuota) },
  });
  return team;
}
