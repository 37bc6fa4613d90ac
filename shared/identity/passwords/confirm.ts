import { eq } from "drizzle-orm";
import { users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { bodyProblem, Problem } from "../../platform/problem.ts";
import { assertUnlocked, clearAccount, settleAttempt } from "../lockout.ts";
import { verifyPassword } from "./password.ts";

/**
 * Asks a signed-in account for its password once more, which stands at `pointer` in the body, and counts a wrong one as a
 * failed sign-in, unless it is `excused` under the hash in force. Returns that hash, for the condition of what follows, and
 * whether the password fits it. Throws `invalid_credentials`, `login_locked`, `forbidden` for an account without a password,
 * and `dependency_unavailable` without the lockout store.
 */
export async function confirmPassword(
  ctx: Context,
  userId: string,
  password: string,
  pointer: `/${string}`,
  excused: (hash: string) => Promise<boolean> = async () => false,
): Promise<{ email: string; hash: string; fits: boolean }> {
  const [user] = await ctx.db
    .select({ email: users.email, hash: users.password_hash })
    .from(users)
    .where(eq(users.id, userId));
  if (user === undefined) throw new Problem("unauthenticated", "This account does not exist any more.");
  const { email, hash } = user;
  if (hash === null) throw new Problem("forbidden", "This account has no password; it signs in by its code host.");
  await assertUnlocked(ctx, email);
  const { ok: fits } = await verifyPassword(password, hash, ctx.passwordCost);
  const ok = fits || (await excused(hash));
  await settleAttempt(ctx, email, ok);
  if (!ok) throw wrongPassword(pointer);
  ctx.defer(() => clearAccount(ctx, email));
  return { email, hash, fits };
}

/** The 401 for a password that is wrong, or was changed while it was looked at. */
export function wrongPassword(pointer: `/${string}`): Problem {
  return bodyProblem("invalid_credentials", pointer, "The password is wrong.");
}
