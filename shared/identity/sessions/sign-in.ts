import { and, eq, isNotNull, sql } from "drizzle-orm";
import type * as z from "zod";
import { write } from "../../db/change.ts";
import { totp_factors, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { Problem } from "../../platform/problem.ts";
import { accountJson, AccountRow, toUserRead } from "../account.ts";
import { normaliseEmail } from "../email.ts";
import { assertUnlocked, clearAccount, settleAttempt } from "../lockout.ts";
import { hashOfNobody, hashPassword, verifyPassword } from "../passwords/password.ts";
import type { LoginRequest } from "../schemas.ts";
import { proofOf, spendProof, wrongCode } from "../second-factor/factor.ts";
import { type HalfSignedIn, sealFirstStep } from "../second-factor/first-step.ts";
import { rememberSignIn } from "./familiar.ts";
import { type NewSession, newSession, sessionParts, type SignedIn, signedIn } from "./new-session.ts";

/**
 * Signs an account in by its password, and by a code where it has a second factor; without one the password is only the
 * first step. Throws `invalid_credentials` in the same time whether the email is unknown, the account has no password or the
 * password is wrong; `invalid_second_factor`; `login_locked`; `dependency_unavailable` without the lockout store.
 */
export async function login(
  ctx: Context,
  input: z.output<typeof LoginRequest>,
  userAgent: string | null,
): Promise<SignedIn | HalfSignedIn> {
  const email = normaliseEmail(input.email);
  await assertUnlocked(ctx, email);
  const session = newSession(ctx);
  const code = input.totp_code ?? input.recovery_code;
  const open = () => openSession(ctx, { email, password: input.password, code, userAgent, session });
  // Once more where the hash was replaced in the meantime: another sign-in may have made it anew of the same password. A
  // code that another sign-in used in the meantime is found to be used.
  const row = (await open()) ?? (await open());
  if (row === null) throw wrongCredentials();
  if ("firstStep" in row) return row;
  ctx.defer(() => clearAccount(ctx, email));
  return signedIn(ctx, toUserRead(ctx, row), session);
}

/** Starts the session if password and code are right; null when what they were held against changed at that moment. */
async function openSession(
  ctx: Context,
  { email, password, code, userAgent, session }: Entry,
): Promise<z.output<typeof AccountRow> | HalfSignedIn | null> {
  const { secret, last_step, recovery_hashes } = totp_factors;
  const [user] = await ctx.db
    .select({ id: users.id, password_hash: users.password_hash, factor: { secret, last_step, recovery_hashes } })
    .from(users)
    .leftJoin(totp_factors, and(eq(totp_factors.user_id, users.id), isNotNull(totp_factors.confirmed_at)))
    .where(eq(users.email, email));
  const { ok, outdated } = await verifyPassword(
    password,
    user?.password_hash ?? hashOfNobody(ctx.passwordCost),
    ctx.passwordCost,
  );
  const factor = user?.factor ?? null;
  const proof = ok && factor !== null && code !== undefined ? proofOf(ctx, factor, code) : null;
  const lacking = factor !== null && proof === null;
  await settleAttempt(ctx, email, ok && !(lacking && code !== undefined));
  if (user === undefined || !ok) throw wrongCredentials();
  if (lacking && code !== undefined) throw wrongCode();
  if (lacking) return sealFirstStep(ctx, user.id, user.password_hash, "password");
  const rehashed = outdated ? await hashPassword(password, ctx.passwordCost) : user.password_hash;
  return write(ctx, {
    // In the same order as what ends a sign-in by its second step.
    ...(proof === null ? {} : { lock: sql`select from ${users} where id = ${user.id}::uuid for no key update` }),
    // The old hash in the condition: a password that was changed in the meantime must neither be restored nor let anybody in.
    parts: sql`with ${spendProof(user.id, proof)}, u as (
      update ${users} u set password_hash = ${rehashed} from proven p
      where u.id = p.user_id and u.password_hash = ${user.password_hash} returning u.*
    ), ${sessionParts(session, userAgent, sql`u`)}, ${rememberSignIn(ctx, userAgent)}`,
    owes: ["noticed"],
    select: sql`select ${accountJson(ctx)} as result from u`,
    result: AccountRow,
  });
}

/** What a session is started with. */
interface Entry {
  email: string;
  password: string;
  code: string | undefined;
  userAgent: string | null;
  session: NewSession;
}

function wrongCredentials(): Problem {
  return new Problem("invalid_credentials", "The email or the password is wrong.");
}
