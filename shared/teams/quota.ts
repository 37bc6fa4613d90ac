import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { allowances, team_members, teams } from "../db/schema/index.ts";
import { monthOf } from "../plans/plans.ts";
import type { Context } from "../platform/context.ts";
import { type Problem, quotaExceeded } from "../platform/problem.ts";

/**
 * SQL: whether a workspace counts against its owner: it is there, or was deleted and paid for runs this month, so that
 * deleting a workspace and creating another does not give a second monthly allowance.
 */
export function isCounted(now: Date, team: SQL): SQL<boolean> {
  return sql`(exists (select from ${team_members} m where m.team_id = ${team})
    or exists (select from ${allowances} w
      where w.kind = 'team' and w.owner = ${team}::text and w.period = ${monthOf(now)} and w.used > 0))`;
}

/** SQL: how many workspaces count against an account. */
export function teamsUsed(ctx: Context, account: SQL): SQL<number> {
  return sql`(select count(*)::integer from ${teams} t where t.owner_id = ${account} and ${isCounted(ctx.now(), sql`t.id`)})`;
}

/** How many workspaces a plan allows, and how many of them are used. */
export const TeamQuota = z.object({ limit: z.int(), used: z.int() });

/** The 402 for an account whose plan allows no further workspace. */
export function teamQuota({ limit, used }: z.output<typeof TeamQuota>): Problem {
  return quotaExceeded(
    `The owner's plan allows ${limit} workspaces, and ${used} count: those owned, and deleted ones that paid for runs ` +
      "this month. Upgrade the plan, or hand one over.",
    { limit, used, larger_plan: true },
  );
}
