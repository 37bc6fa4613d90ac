import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { databaseFailure } from "../db/client.ts";
import { sessions, users } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { bodyProblem, Problem } from "../platform/problem.ts";
import { accountJson, AccountRow, toUserRead } from "./account.ts";
import { voidTokens } from "./email-token.ts";
import { confirmPassword, wrongPassword } from "./passwords/confirm.ts";
import { signInChanged } from "./sign-in-changed.ts";
import { assertStrongPassword, hashPassword } from "./passwords/password.ts";
import type { SessionPrincipal } from "./principal.ts";
import type { UserUpdate } from "./schemas.ts";
import type { UserRead } from "./shown.ts";
import { denySessions, endedJson } from "./sessions/deny.ts";

const Updated = z.object({ account: AccountRow, ended: z.array(z.uuid()) });

/**
 * Changes username or password. A new password needs the current one, ends every other session of the account, and
 * voids the links that were mailed before to reset it or to change the address. Throws `invalid_credentials`, `weak_password`, `username_taken`,
 * `forbidden` for a password where the account has none, `login_locked`.
 */
export async function updateAccount(
  ctx: Context,
  { userId, sessionId }: Pick<SessionPrincipal, "userId" | "sessionId">,
  input: z.output<typeof UserUpdate>,
): Promise<z.output<typeof UserRead>> {
  const { username, current_password: current, new_password: next } = input;
  const changes: SQL[] = [sql`updated_at = now()`];
  if (username !== undefined) changes.push(sql`username = ${username}`);
  let unchanged = sql`true`;
  if (current !== undefined && next !== undefined) {
    const { email, hash } = await confirmPassword(ctx, userId, current, "/current_password");
    assertStrongPassword(next, email, "/new_password");
    changes.push(sql`password_hash = ${await hashPassword(next, ctx.passwordCost)}`);
    unchanged = sql`password_hash = ${hash}`;
  }
  const secured = next === undefined ? sql`false` : sql`true`;
  const now = sql`${ctx.now().toISOString()}::timestamptz`;
  const updated = await write(ctx, {
    // Locked first: a sign-in with the old password that came before is seen, and ended.
    lock: sql`select from ${users} where id = ${userId}::uuid for no key update`,
    parts: sql`with u as (
    update ${users} set ${sql.join(changes, sql`, `)} where id = ${userId}::uuid and ${unchanged} returning *
  ), ended as (
    update ${sessions} s set revoked_at = ${now} from u
    where ${secured} and s.user_id = u.id and s.id <> ${sessionId}::uuid and s.revoked_at is null returning s.id, s.expires_at
  ), voided as (
    ${voidTokens(ctx, ["reset_password", "confirm_email"], sql`(select id from u where ${secured})`)}
  ), mailed as (${signInChanged("password_changed", sql`select id as user_id, '' as title from u where ${secured}`)})`,
    owes: ["mailed"],
    select: sql`select jsonb_build_object('account', ${accountJson(ctx)},
      'ended', ${endedJson(ctx)}) as result from u`,
    result: Updated,
  }).catch((error: unknown) => {
    if (databaseFailure(error)?.constraint !== "users_username_key") throw error;
    throw bodyProblem("username_taken", "/username", "This username is taken; choose another.");
  });
  // No row: the account is gone, or its password was changed since it was confirmed.
  if (updated === null) {
    throw next === undefined
      ? new Problem("unauthenticated", "This account does not exist any more.")
      : wrongPassword("/current_password");
  }
  await denySessions(ctx, updated.ended);
  return toUserRead(ctx, updated.account);
}
