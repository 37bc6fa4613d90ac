import { sql } from "drizzle-orm";
import type * as z from "zod";
import { note } from "../../analytics/event.ts";
import { email_tokens, users } from "../../db/schema/index.ts";
import { readJson, writeJson } from "../../db/statement.ts";
import type { Context } from "../../platform/context.ts";
import { flush } from "../../db/outbox.ts";
import { owed } from "../../db/owed.ts";
import type { Message } from "../../platform/message.ts";
import { disown, taken, type Taken, takeEffect } from "./disown.ts";
import { holds, invalidToken, spendToken } from "../email-token.ts";
import { assertStrongPassword, hashPassword } from "./password.ts";
import type { ResetPasswordRequest } from "../schemas.ts";
import { clearAccount } from "../lockout.ts";

interface Outcome {
  taken: Taken;
  owed: Message[];
}

/**
 * Sets a new password by a mailed token, ends every session of the account and clears its lockout. The token proves the
 * address: where it was not verified it is now, and whoever made the account for it loses every other way in. Throws
 * `invalid_token`, and `weak_password`, which leaves the token in force. A token is looked up first: only one that holds
 * is worth a hash, and the policy asks for the account's email.
 */
export async function resetPassword(
  ctx: Context,
  { token, new_password }: z.output<typeof ResetPasswordRequest>,
): Promise<void> {
  const email = await readJson<string>(
    ctx,
    sql`select to_jsonb(u.email) as result from ${email_tokens} t, ${users} u
      where ${holds(ctx, "reset_password", token)}`,
  );
  if (email === null) throw invalidToken();
  assertStrongPassword(new_password, email, "/new_password");
  const hash = await hashPassword(new_password);
  const ctes = sql`with ${spendToken(ctx, "reset_password", token)}, claimed as (
      update ${users} u set password_hash = ${hash}, email_verified = true from spent where u.id = spent.user_id
      returning u.id, old.email_verified as proven
    ), ${disown(ctx, sql`true`)},
    noted as (${note(ctx, "password_reset_completed", {}, sql`from claimed u`)}),
    verified as (${note(ctx, "email_verified", {}, sql`from claimed u where not u.proven`)})`;
  const result = sql`select (select jsonb_build_object('taken', ${taken}, 'owed', ${owed("noted", "verified")})
    from claimed) as result`;
  // What signs in or is granted at this moment comes before this, and is seen, or after it, and is refused.
  const lock = sql`select from ${users} where email = ${email} for no key update`;
  const outcome = await writeJson<Outcome | null>(ctx, ctes, result, lock);
  if (outcome === null) throw invalidToken();
  ctx.defer(() => flush(ctx, outcome.owed));
  await Promise.all([
    takeEffect(ctx, outcome.taken),
    clearAccount(ctx, email).catch((error: unknown) => {
      ctx.log.warn("lockout unavailable", { reason: error instanceof Error ? error.name : "unknown" });
    }),
  ]);
}
