import { sql } from "drizzle-orm";
import type * as z from "zod";
import { write } from "../db/change.ts";
import { users } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { Problem } from "../platform/problem.ts";
import { accountJson, AccountRow, toUserRead } from "./account.ts";
import type { UserRead } from "./shown.ts";

/**
 * Gives an account on the operator's list the plan team; enterprise stays. Throws one and the same 403 for an account
 * that is not on the list, has not verified its email or is about to be deleted, so that nobody learns who is on it.
 */
export async function applyTeamOverride(ctx: Context, userId: string): Promise<z.output<typeof UserRead>> {
  const listed = JSON.stringify([...ctx.env.TEAM_OVERRIDE_EMAILS]);
  const row = await write(ctx, {
    parts: sql`with u as (
      update ${users} set plan = case plan when 'enterprise' then plan else 'team' end, updated_at = now()
      where id = ${userId}::uuid and email_verified and deletion_scheduled_for is null and ${listed}::jsonb ? email
      returning *
    )`,
    select: sql`select ${accountJson(ctx)} as result from u`,
    result: AccountRow,
  });
  if (row === null) throw new Problem("forbidden", "This account can't do that.");
  return toUserRead(ctx, row);
}
