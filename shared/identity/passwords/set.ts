import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, read, verdict } from "../../db/change.ts";
import { sessions, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { endedMeanwhile, Problem } from "../../platform/problem.ts";
import { accountJson, AccountRow, toUserRead } from "../account.ts";
import { voidTokens } from "../email-token.ts";
import type { SessionPrincipal } from "../principal.ts";
import type { PasswordSet } from "../schemas.ts";
import type { UserRead } from "../shown.ts";
import { denySessions, endedJson } from "../sessions/deny.ts";
import { signInChanged } from "../sign-in-changed.ts";
import { stillHolds } from "./disown.ts";
import { assertStrongPassword, hashPassword } from "./password.ts";

/**
 * Gives an account that signs in by its code host alone a password, ends its other sessions and tells it by mail. Of any
 * number at once one succeeds. Throws `weak_password`, and `password_account` where there is a password.
 */
export async function setPassword(
  ctx: Context,
  principal: SessionPrincipal,
  { new_password }: z.output<typeof PasswordSet>,
): Promise<z.output<typeof UserRead>> {
  const { userId, sessionId } = principal;
  const known = await read(
    ctx,
    z.object({ email: z.string(), has_password: z.boolean() }),
    sql`select jsonb_build_object('email', u.email, 'has_password', u.password_hash is not null) as result
      from ${users} u where u.id = ${userId}::uuid`,
  );
  if (known === null) throw endedMeanwhile();
  // Found before the hash is made, which is costly.
  if (known.has_password) throw hasPassword();
  assertStrongPassword(new_password, known.email, "/new_password");
  const hash = await hashPassword(new_password, ctx.passwordCost);
  const setting = verdict({ ended: sql`not ${stillHolds(principal)}`, taken: sql`a.password_hash is not null` });
  const { account, ended } = await change(ctx, {
    lock: sql`select from ${users} where id = ${userId}::uuid for no key update`,
    parts: sql`with target as (
      select a.id, ${setting.sql} as outcome from ${users} a where a.id = ${userId}::uuid
    ), u as (
      update ${users} x set password_hash = ${hash}, updated_at = now() from target t
      where x.id = t.id and t.outcome = 'done' returning x.*
    ), ended as (
      update ${sessions} s set revoked_at = ${ctx.now().toISOString()}::timestamptz from u
      where s.user_id = u.id and s.id <> ${sessionId}::uuid and s.revoked_at is null returning s.id, s.expires_at
    ), voided as (${voidTokens(ctx, ["confirm_email"], sql`u`)}
    ), mailed as (${signInChanged("password_changed", sql`select id as user_id, '' as title from u`)})`,
    owes: ["mailed"],
    result: sql`select jsonb_build_object('outcome', t.outcome, 'account', (select ${accountJson(ctx)} from u),
      'ended', ${endedJson(ctx)}) as result from target t`,
    verdict: setting,
    done: z.object({ account: AccountRow, ended: z.array(z.uuid()) }),
    refusals: { not_found: endedMeanwhile, ended: endedMeanwhile, taken: hasPassword },
  });
  await denySessions(ctx, ended);
  return toUserRead(ctx, account);
}

function hasPassword(): Problem {
  return new Problem("password_account", "This account has a password; change it with PATCH /api/v1/auth/me.");
}
