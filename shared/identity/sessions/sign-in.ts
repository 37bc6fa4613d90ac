import { eq, sql } from "drizzle-orm";
import type * as z from "zod";
import { write } from "../../db/change.ts";
import { refresh_tokens, sessions, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { Problem } from "../../platform/problem.ts";
import { accountJson, AccountRow, toUserRead } from "../account.ts";
import { normaliseEmail } from "../email.ts";
import { enter } from "../lockout.ts";
import { hashOfNobody, hashPassword, verifyPassword } from "../passwords/password.ts";
import type { LoginRequest } from "../schemas.ts";
import { newSession, type SignedIn, signedIn } from "./new-session.ts";

/**
 * Signs an account in by its password. Throws `invalid_credentials` in the same time whether the email is unknown, the
 * account has no password or the password is wrong; `login_locked`; `dependency_unavailable` without the lockout store.
 */
export async function login(
  ctx: Context,
  input: z.output<typeof LoginRequest>,
  userAgent: string | null,
): Promise<SignedIn> {
  const email = normaliseEmail(input.email);
  const attempt = await enter(ctx, email);
  const [user] = await ctx.db
    .select({ id: users.id, password_hash: users.password_hash })
    .from(users)
    .where(eq(users.email, email));
  const { ok, outdated } = await verifyPassword(
    input.password,
    user?.password_hash ?? hashOfNobody(ctx.passwordCost),
    ctx.passwordCost,
  );
  if (user === undefined || !ok) throw new Problem("invalid_credentials", "The email or the password is wrong.");
  const session = newSession(ctx);
  const rehashed = outdated ? await hashPassword(input.password, ctx.passwordCost) : user.password_hash;
  // The old hash in the condition: a password that was changed in the meantime must neither be restored nor let anybody in.
  const row = await write(ctx, {
    parts: sql`with u as (
      update ${users} set password_hash = ${rehashed}
      where id = ${user.id}::uuid and password_hash = ${user.password_hash} returning *
    ), s as (
      insert into ${sessions} (id, user_id, user_agent, expires_at)
      select ${session.id}::uuid, u.id, ${userAgent}, ${session.expiresAt}::timestamptz from u
    ), t as (
      insert into ${refresh_tokens} (token_hash, session_id) select ${session.refreshHash}, ${session.id}::uuid from u
    )`,
    select: sql`select ${accountJson(ctx)} as result from u`,
    result: AccountRow,
  });
  if (row === null) throw new Problem("invalid_credentials", "The email or the password is wrong.");
  ctx.defer(() => attempt.succeeded());
  return signedIn(ctx, toUserRead(ctx, row), session);
}
