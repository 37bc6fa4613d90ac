import { eq, sql } from "drizzle-orm";
import type * as z from "zod";
import { write } from "../../db/change.ts";
import { refresh_tokens, sessions, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { Problem } from "../../platform/problem.ts";
import { accountJson, AccountRow, toUserRead } from "../account.ts";
import { normaliseEmail } from "../email.ts";
import { assertUnlocked, clearAccount, settleAttempt } from "../lockout.ts";
import { hashOfNobody, hashPassword, verifyPassword } from "../passwords/password.ts";
import type { LoginRequest } from "../schemas.ts";
import { rememberSignIn } from "./familiar.ts";
import { type NewSession, newSession, type SignedIn, signedIn } from "./new-session.ts";

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
  await assertUnlocked(ctx, email);
  const session = newSession(ctx);
  const open = () => openSession(ctx, { email, password: input.password, userAgent, session });
  // Once more where the hash was replaced in the meantime: another sign-in may have made it anew of the same password.
  const row = (await open()) ?? (await open());
  if (row === null) throw wrongCredentials();
  ctx.defer(() => clearAccount(ctx, email));
  return signedIn(ctx, toUserRead(ctx, row), session);
}

/** Starts the session if the password is right; null when the account's hash was replaced while it was looked at. */
async function openSession(
  ctx: Context,
  { email, password, userAgent, session }: Entry,
): Promise<z.output<typeof AccountRow> | null> {
  const [user] = await ctx.db
    .select({ id: users.id, password_hash: users.password_hash })
    .from(users)
    .where(eq(users.email, email));
  const { ok, outdated } = await verifyPassword(
    password,
    user?.password_hash ?? hashOfNobody(ctx.passwordCost),
    ctx.passwordCost,
  );
  await settleAttempt(ctx, email, ok);
  if (user === undefined || !ok) throw wrongCredentials();
  const rehashed = outdated ? await hashPassword(password, ctx.passwordCost) : user.password_hash;
  // The old hash in the condition: a password that was changed in the meantime must neither be restored nor let anybody in.
  return write(ctx, {
    parts: sql`with u as (
      update ${users} set password_hash = ${rehashed}
      where id = ${user.id}::uuid and password_hash = ${user.password_hash} returning *
    ), s as (
      insert into ${sessions} (id, user_id, user_agent, expires_at)
      select ${session.id}::uuid, u.id, ${userAgent}, ${session.expiresAt}::timestamptz from u
    ), t as (
      insert into ${refresh_tokens} (token_hash, session_id) select ${session.refreshHash}, ${session.id}::uuid from u
    ), ${rememberSignIn(ctx, userAgent)}`,
    owes: ["noticed"],
    select: sql`select ${accountJson(ctx)} as result from u`,
    result: AccountRow,
  });
}

/** What a session is started with. */
interface Entry {
  email: string;
  password: string;
  userAgent: string | null;
  session: NewSession;
}

function wrongCredentials(): Problem {
  return new Problem("invalid_credentials", "The email or the password is wrong.");
}
