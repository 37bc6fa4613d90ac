import { sql } from "drizzle-orm";
import type * as z from "zod";
import { planLimit } from "../billing/plans.ts";
import { team_members, teams, users } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { teamQuota, teamsUsed } from "./quota.ts";
import type { TeamCreate } from "./schemas.ts";
import { teamJson, type TeamRow } from "./view.ts";

interface Outcome {
  limit: number;
  used: number;
  team: TeamRow | null;
}

/** Makes a workspace that the account owns and is the first member of. Throws `quota_exceeded` by the account's plan. */
export async function createTeam(ctx: Context, userId: string, input: z.output<typeof TeamCreate>): Promise<TeamRow> {
  const ctes = sql`with account as (
    select u.id, ${planLimit(sql`u.plan`, "workspaces")} as team_limit, ${teamsUsed(ctx, sql`u.id`)} as used
    from ${users} u where u.id = ${userId}::uuid
  ), t as (
    insert into ${teams} (name, owner_id)
    select ${input.name}, a.id from account a where a.team_limit is null or a.used < a.team_limit returning *
  ), m as (
    insert into ${team_members} (team_id, user_id, role) select t.id, t.owner_id, 'owner' from t
  )`;
  const result = sql`select jsonb_build_object('limit', a.team_limit, 'used', a.used,
    'team', (select ${teamJson(ctx, sql`'owner'`, sql`1`)} from t)) as result from account a`;
  const lock = sql`select from ${users} where id = ${userId}::uuid for no key update`;
  const { limit, used, team } = await writeJson<Outcome>(ctx, ctes, result, lock);
  if (team === null) throw teamQuota(limit, used);
  return team;
}
