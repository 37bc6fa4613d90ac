import { sql } from "drizzle-orm";
import type * as z from "zod";
import { note } from "../analytics/event.ts";
import { databaseFailure } from "../db/client.ts";
import { refresh_tokens, sessions, users } from "../db/schema/index.ts";
import { owed } from "../db/owed.ts";
import type { Context } from "../platform/context.ts";
import { bodyProblem, Problem } from "../platform/problem.ts";
import { flush } from "../db/outbox.ts";
import type { Message } from "../platform/message.ts";
import { type AccountRow, accountJson, toUserRead } from "./account.ts";
import { mintToken } from "./email-token.ts";
import { assertStrongPassword, hashPassword } from "./passwords/password.ts";
import type { UserCreate } from "./schemas.ts";
import { newSession, type SignedIn, signedIn } from "./sessions/new-session.ts";

/**
 * Makes an account, signs it in and owes it the mail that verifies its email, in one statement.
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
  const hash = await hashPassword(input.password);
  const session = newSession(ctx);
  const signup = { method: "password", time_to_complete_ms: ctx.now().getTime() - began };
  const insert = sql`
    with u as (
      insert into ${users} (email, username, password_hash) values (${email}, ${input.username ?? null}, ${hash})
      on conflict (email) do nothing returning *
    ), s as (
      insert into ${sessions} (id, user_id, user_agent, expires_at)
      select ${session.id}::uuid, u.id, ${userAgent}, ${session.expiresAt}::timestamptz from u
    ), t as (
      insert into ${refresh_tokens} (token_hash, session_id) select ${session.refreshHash}, ${session.id}::uuid from u
    ), ${mintToken(ctx, "verify_email")},
    noted as (${note(ctx, "signup_completed", signup)})
    select jsonb_build_object('account', ${accountJson(ctx)}, 'owed', ${owed("mailed", "noted")}) as result from u`;
  const { rows } = await ctx.db
    .execute<{ result: { account: AccountRow; owed: Message[] } }>(insert)
    .catch((error: unknown) => {
      if (databaseFailure(error)?.constraint !== "users_username_key") throw error;
      throw bodyProblem("username_taken", "/username", "This username is taken; choose another.");
    });
  const [row] = rows;
  if (row === undefined) {
    throw new Problem("email_taken", "There is an account with this email. Sign in, or reset its password.");
  }
  const { account, owed: messages } = row.result;
  ctx.defer(() => flush(ctx, messages));
  return signedIn(ctx, toUserRead(ctx, account), session);
}
