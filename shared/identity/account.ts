import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { monthOf, planLimit } from "../plans/plans.ts";
import { read } from "../db/change.ts";
import { UNLIMITED } from "../db/listing.ts";
import { agents, allowances, team_members, users } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { Problem } from "../platform/problem.ts";
import { isAdmin } from "./admin.ts";
import { UserRead } from "./shown.ts";

/** An account as `accountJson` gives it: UserRead without what the settings decide. */
export const AccountRow = UserRead.omit({ is_admin: true });

/**
 * SQL: the JSON of an account from the row `u`, which may come from a statement that just wrote it. The agents are its own,
 * as its plan's limit counts them: those of a workspace count there, whoever made them. They are counted in an order with a
 * limit: of an account that the planner does not know it takes the average for most of all agents.
 */
export function accountJson(ctx: Context): SQL {
  return sql`jsonb_build_object(
    'id', u.id, 'email', u.email, 'username', u.username, 'email_verified', u.email_verified, 'plan', u.plan,
    'arena_run_count', (select coalesce(sum(used), 0) from ${allowances} where kind = 'user' and owner = u.id::text),
    'monthly_run_count', coalesce((
      select used from ${allowances} where kind = 'user' and owner = u.id::text and period = ${monthOf(ctx.now())}
    ), 0),
    'monthly_run_limit', ${planLimit(sql`u.plan`, "runs")},
    'agent_count', (select count(*) from (
      select from ${agents} a where coalesce(a.team_id, a.user_id) = u.id and a.is_active
      order by a.created_at desc ${UNLIMITED}) x),
    'team_count', (select count(*) from ${team_members} m where m.user_id = u.id),
    'charges_enabled', u.charges_enabled, 'payouts_enabled', u.payouts_enabled,
    'has_password', u.password_hash is not null,
    'deletion_scheduled_for', u.deletion_scheduled_for, 'created_at', u.created_at)`;
}

/** An account as the interface shows it. */
export function toUserRead(ctx: Context, row: z.output<typeof AccountRow>): z.output<typeof UserRead> {
  return { ...row, is_admin: isAdmin(ctx, row) };
}

/** The caller's own account; throws 401 when it is gone. */
export async function readAccount(ctx: Context, userId: string): Promise<z.output<typeof UserRead>> {
  const row = await read(
    ctx,
    AccountRow,
    sql`select ${accountJson(ctx)} as result from ${users} u where u.id = ${userId}::uuid`,
  );
  if (row === null) throw new Problem("unauthenticated", "This account does not exist any more.");
  return toUserRead(ctx, row);
}
