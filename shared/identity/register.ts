import { sql } from "drizzle-orm";
import type * as z from "zod";
import { note } from "../analytics/event.ts";
import { write } from "../db/change.ts";
import { databaseFailure } from "../db/client.ts";
import { refresh_tokens, sessions, users } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { bodyProblem } from "../platform/problem.ts";
import { accountJson, AccountRow, toUserRead } from "./account.ts";
import { mintToken } from "./email-token.ts";
import { assertStrongPassword, hashPassword } from "./passwords/password.ts";
import type { UserCreate } from "./schemas.ts";
import { rememberSignIn } from "./sessions/familiar.ts";
import { newSession, type SignedIn, signedIn } from "./sessions/new-session.ts";

/**
 * Makes an account, signs it in and owes it the mail that verifies its address, in one statement.
 * Throws `weak_password`, `email_taken`, `username_taken`.
 */
export async function register(
  ctx: Context,
  input: z.output<typeof UserCreate>,
  userAgent: string | null,
): Promise<SignedIn> {
  const began = ctx.now().getTime();
  const { email } = input;
  assertStrongPassword(input.password, email, "/password");
  const hash = await hashPassword(input.password, ctx.passwordCost);
  const session = newSession(ctx);
  const signup = { method: "password", time_to_complete_ms: ctx.now().getTime() - began };
  const account = await write(ctx, {
    parts: sql`with u as (
      insert into ${users} (email, username, password_hash) values (${email}, ${input.username ?? null}, ${hash})
      on conflict (email) do nothing returning *
    ), s as (
      insert into ${sessions} (id, user_id, user_agent, expires_at)
      select ${session.id}::uuid, u.id, ${userAgent}, ${session.expiresAt}::timestamptz from u
    ), t as (
      insert into ${refresh_tokens} (token_hash, session_id) select ${session.refreshHash}, ${session.id}::uuid from u
    ), ${mintToken(ctx, "verify_email")}, ${rememberSignIn(ctx, userAgent)},
    noted as (${note(ctx, "signup_completed", signup)})`,
    owes: ["mailed", "noted", "noticed"],
    select: sql`select ${accountJson(ctx)} as result from u`,
    result: AccountRow,
  }).catch((error: unknown) => {
    if (databaseFailure(error)?.constraint !== "users_username_key") throw error;
    throw bodyProblem("username_taken", "/username", "This username is taken; choose another.");
  });
  if (account === null) {
    throw bodyProblem("email_taken", "/email", "There is an account with this email. Sign in, or reset its password.");
  }
  return signedIn(ctx, toUserRead(ctx, account), session);
}
