import { sql } from "drizzle-orm";
import { planLimit } from "../billing/plans.ts";
import { team_members, teams, users } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { teamQuota, teamsUsed } from "./quota.ts";
import { takeTurn } from "./turns.ts";
import { noTeam, notAllowed, teamFor, teamJson, type TeamRow } from "./view.ts";

interface Outcome {
  outcome: "forbidden" | "no_member" | "quota" | "moved" | "unchanged" | null;
  limit: number;
  used: number;
  team: TeamRow | null;
}

/**
 * Hands a workspace over to another member, whose plan counts from then on; who owned it becomes an admin. Does nothing
 * where that member is the owner. Throws 404 for the workspace or the member, `forbidden`, `quota_exceeded`.
 */
export async function transferTeam(ctx: Context, userId: string, teamId: string, newOwner: string): Promise<TeamRow> {
  const ctes = sql`with checked as (
    select t.id, ${planLimit(sql`u.plan`, "workspaces")} as team_limit, ${teamsUsed(ctx, sql`u.id`)} as used, t.owner_id, t.allowed,
      m.user_id as heir
    from (${teamFor("own", userId, teamId)}) t
      left join ${team_members} m on m.team_id = t.id and m.user_id = ${newOwner}::uuid
      left join ${users} u on u.id = m.user_id
  ), judged as (
    select *, case when not allowed then 'forbidden' when heir is null then 'no_member'
      when heir = owner_id then 'unchanged' when used >= team_limit then 'quota' else 'moved' end as outcome
    from checked
  ), t as (
    update ${teams} t set owner_id = j.heir from judged j
    where t.id = j.id and j.outcome in ('moved', 'unchanged') returning t.*
  ), roles as (
    update ${team_members} m set role = case m.user_id when j.heir then 'owner' else 'admin' end from judged j
    where m.team_id = j.id and m.user_id in (j.heir, j.owner_id) and j.outcome = 'moved'
  )`;
  const role = sql`case t.owner_id when ${userId}::uuid then 'owner' else 'admin' end`;
  const result = sql`select jsonb_build_object('outcome', (select outcome from judged),
    'limit', (select team_limit from judged), 'used', (select used from judged),
    'team', (select ${teamJson(ctx, role)} from t)) as result`;
  const lock = takeTurn(sql`${teamId}::uuid`, userId);
  const { outcome, limit, used, team } = await writeJson<Outcome>(ctx, ctes, result, lock);
  switch (outcome) {
    case null:
      throw noTeam();
    case "forbidden":
      throw notAllowed("handing it over");
    case "no_member":
      throw notFound("member");
    case "quota":
      throw teamQuota(limit, used);
    default:
      return team as TeamRow;
  }
}
