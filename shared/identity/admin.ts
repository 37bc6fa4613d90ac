import { eq } from "drizzle-orm";
import { users } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { Problem } from "../platform/problem.ts";

/** Whether an account is an operator's: its email is on the allowlist and verified. */
export function isAdmin(ctx: Context, user: { email: string; email_verified: boolean }): boolean {
  return user.email_verified && ctx.env.ADMIN_EMAILS.has(user.email);
}

/** Throws a 403 that tells nothing about the allowlist unless the account is an operator's. */
export async function assertAdmin(ctx: Context, userId: string): Promise<void> {
  const [user] = await ctx.db
    .select({ email: users.email, email_verified: users.email_verified })
    .from(users)
    .where(eq(users.id, userId));
  if (user === undefined || !isAdmin(ctx, user)) throw new Problem("forbidden", "This endpoint is for operators.");
}
