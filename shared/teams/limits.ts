import { type SQL, sql } from "drizzle-orm";
import { teams, users } from "../db/schema/index.ts";
import { hasLarger, type PLANS, planLimit } from "../plans/plans.ts";
import { type Problem, quotaExceeded } from "../platform/problem.ts";
import { isCounted } from "./quota.ts";

/**
 * SQL: whether the workspace `row` is beyond those that its owner's `plan` includes: the oldest are within. It keeps all it
 * has, and can be read, handed over and deleted, but nothing more is paid for in it.
 */
export function isBeyond(now: Date, row: "t" | "space", plan: SQL): SQL<boolean> {
  const space = sql.raw(row);
  const most = planLimit(plan, "workspaces");
  // No more are counted than there may be: an account may own any number of them.
  return sql`case when ${most} is null then false else (select count(*) from (
    select from ${teams} older where older.owner_id = ${space}.owner_id
      and (older.created_at, older.id) < (${space}.created_at, ${space}.id) and ${isCounted(now, sql`older.id`)}
    limit ${most}) within) >= ${most} end`;
}

/** SQL: whether what `owner` has is in such a workspace. */
export function isBeyondPlan(now: Date, owner: { team_id: SQL }): SQL<boolean> {
  return sql`coalesce((select ${isBeyond(now, "space", sql`payer.plan`)} from ${teams} space
    join ${users} payer on payer.id = space.owner_id where space.id = ${owner.team_id}), false)`;
}

/**
 * SQL: how much the plan allows `owner`, an account or a workspace, of what is paid for; null is unlimited. A workspace has
 * the plan of its owner, and nothing where it is beyond those that this plan includes: every limit comes from here.
 */
export function limitOf(
  now: Date,
  owner: { user_id: SQL; team_id: SQL },
  limit: Exclude<keyof (typeof PLANS)["free"], "workspaces">,
): SQL<number | null> {
  const planned = planLimit(sql`payer.plan`, limit);
  return sql`case when ${owner.team_id} is null
    then (select ${planned} from ${users} payer where payer.id = ${owner.user_id})
    else (select case when ${isBeyond(now, "space", sql`payer.plan`)} then 0 else ${planned} end from ${teams} space
      join ${users} payer on payer.id = space.owner_id where space.id = ${owner.team_id}) end`;
}

/** The 402 for what takes more of a workspace that is beyond its owner's plan; `limitOf` is 0 there, and by no plan else. */
export function beyondPlan(used: number): Problem {
  return quotaExceeded(BEYOND_PLAN, { limit: 0, used, larger_plan: true });
}

/**
 * The 402 where the plan of whoever pays has no more of what it limits: `allows` says so, and `instead` what helps without
 * another plan.
 */
export function planExceeded(
  of: keyof (typeof PLANS)["free"],
  { limit, used }: { limit: number; used: number },
  allows: string,
  instead: string,
): Problem {
  const larger_plan = hasLarger(limit, of);
  return quotaExceeded(`${allows} ${instead}${larger_plan ? " or upgrade" : ""}.`, { limit, used, larger_plan });
}

/** Why nothing more is paid for in such a workspace, and what to do. */
export const BEYOND_PLAN =
  "The plan of the workspace's owner does not include this workspace, so nothing more is run or added here; what it has " +
  "stays. Its owner may upgrade the plan, or hand it over to a member whose plan has room for it.";
