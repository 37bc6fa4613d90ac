import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, telling, verdict } from "../db/change.ts";
import { team_members, teams, users } from "../db/schema/index.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import { planLimit } from "../plans/plans.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { TeamQuota, teamQuota, teamsUsed } from "./quota.ts";
import { TeamRead } from "./shown.ts";
import { takeTurn } from "./turns.ts";
import { noTeam, notAllowed, teamFor, teamJson } from "./view.ts";

/** Handing a workspace over to its present owner changes nothing, so it needs no free place in a plan. */
const TRANSFER = verdict({
  forbidden: sql`not t.allowed`,
  no_member: sql`t.new_owner is null`,
  leaving: sql`t.new_owner <> t.owner_id and t.is_leaving`,
  quota: sql`t.new_owner <> t.owner_id and t.used >= t.team_limit`,
});

/**
 * Hands a workspace over to another member, whose plan counts from then on; the previous owner becomes an admin. Does
 * nothing where that member is the owner already. Throws 404 for the workspace or the member, `forbidden`,
 * `account_leaving` where the member's account awaits its deletion, which the workspace would hold up; `quota_exceeded`.
 */
export async function transferTeam(
  ctx: Context,
  { userId }: SessionPrincipal,
  teamId: string,
  newOwner: string,
): Promise<z.output<typeof TeamRead>> {
  const role = sql`case t.owner_id when ${userId}::uuid then 'owner' else 'admin' end`;
  const { team } = await change(ctx, {
    lock: takeTurn(sql`${teamId}::uuid`, userId),
    parts: sql`with target as (
      select t.*, ${TRANSFER.sql} as outcome from (
        select t.id, t.owner_id, t.allowed, m.user_id as new_owner,
          u.deletion_scheduled_for is not null as is_leaving,
          ${planLimit(sql`u.plan`, "workspaces")} as team_limit, ${teamsUsed(ctx, sql`u.id`)} as used
        from (${teamFor("own", userId, teamId)}) t
          left join ${team_members} m on m.team_id = t.id and m.user_id = ${newOwner}::uuid
          left join ${users} u on u.id = m.user_id
      ) t
    ), t as (
      update ${teams} t set owner_id = g.new_owner from target g
      where t.id = g.id and g.outcome = 'done' returning t.*
    ), roles as (
      update ${team_members} m set role = case m.user_id when g.new_owner then 'owner' else 'admin' end from target g
      where m.team_id = g.id and m.user_id in (g.new_owner, g.owner_id) and g.new_owner <> g.owner_id
        and g.outcome = 'done'
    )`,
    result: sql`select jsonb_build_object('outcome', g.outcome, 'limit', g.team_limit, 'used', g.used,
      'team', (select ${teamJson(ctx, role)} from t)) as result from target g`,
    verdict: TRANSFER,
    done: z.object({ team: TeamRead }),
    refusals: {
      not_found: noTeam,
      forbidden: () => notAllowed("handing it over"),
      no_member: () => notFound("member"),
      leaving: () =>
        new Problem("account_leaving", "This member's account awaits its deletion, which the workspace would hold up."),
      quota: telling(TeamQuota, teamQuota),
    },
  });
  return team;
}
