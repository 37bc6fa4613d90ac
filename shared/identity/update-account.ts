import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { databaseFailure } from "../db/client.ts";
import { sessions, users } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { bodyProblem, Problem } from "../platform/problem.ts";
import { accountJson, AccountRow, toUserRead } from "./account.ts";
import { voidTokens } from "./email-token.ts";
import { confirmPassword } from "./passwords/confirm.ts";
import { isRepeated, keepFormer } from "./passwords/former.ts";
import { signInChanged } from "./sign-in-changed.ts";
import { assertStrongPassword, hashPassword } from "./passwords/password.ts";
import type { SessionPrincipal } from "./principal.ts";
import type { UserUpdate } from "./schemas.ts";
import type { UserRead } from "./shown.ts";
import { denySessions, endedJson } from "./sessions/deny.ts";

const Updated = z.object({ account: AccountRow, ended: z.array(z.uuid()) });

/**
 * Changes username or password. A new password needs the current one, ends every other session of the account, and
 * voids the links that were mailed before to reset it or to change the address; the same change, sent once more, is done
 * already. Throws `invalid_credentials`, `weak_password`, `username_taken`, `forbidden` for a password where the account has
 * none, `login_locked`.
 */
export async function updateAccount(
  ctx: Context,
  principal: Pick<SessionPrincipal, "userId" | "sessionId">,
  input: z.output<typeof UserUpdate>,
): Promise<z.output<typeof UserRead>> {
  const { userId, sessionId } = principal;
  const { username, current_password: current, new_password: next } = input;
  const changes: SQL[] = [sql`updated_at = now()`];
  if (username !== undefined) changes.push(sql`username = ${username}`);
  let [unchanged, secured] = [sql`true`, sql`false`];
  if (current !== undefined && next !== undefined) {
    const { email, hash, fits } = await confirmPassword(ctx, userId, current, "/current_password", (inForce) =>
      isRepeated(ctx, sessionId, { current, next, hash: inForce }),
    );
    if (fits) {
      assertStrongPassword(next, email, "/new_password");
      await keepFormer(ctx, sessionId, hash);
      changes.push(sql`password_hash = ${await hashPassword(next, ctx.passwordCost)}`);
      secured = sql`true`;
    }
    unchanged = sql`password_hash = ${hash}`;
  }
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
  // No row: the account is gone, or its password was changed since it was confirmed, it may be by this very change.
  if (updated === null) {
    if (next !== undefined) return updateAccount(ctx, principal, input);
    throw new Problem("unauthenticated", "This account does not exist any more.");
  }
  await denySessions(ctx, updated.ended);
  return toUserRead(ctx, updated.account);
}
