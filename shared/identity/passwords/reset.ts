import { sql } from "drizzle-orm";
import * as z from "zod";
import { note } from "../../analytics/event.ts";
import { read, write } from "../../db/change.ts";
import { email_tokens, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { signInChanged } from "../sign-in-changed.ts";
import { CLAIMING, disown, type DisownInDomain, Taken, takeEffect, takenJson } from "./disown.ts";
import { holds, invalidToken, spendToken } from "../email-token.ts";
import { assertStrongPassword, hashPassword } from "./password.ts";
import type { ResetPasswordRequest } from "../schemas.ts";
import { clearAccount } from "../lockout.ts";

/**
 * Sets a new password by a mailed token, ends every session of the account with the links that they asked for, and clears
 * its lockout. The token proves the address: where it was not verified it is now, a deletion that was asked for is off, and
 * whoever made the account for it loses every other way in, through `domains` too. Throws `invalid_token`, and
 * `weak_password`, which leaves the token in force. The token is looked up first: only one that holds is worth a hash, and
 * the policy needs the account's email.
 */
export async function resetPassword(
  ctx: Context,
  { token, new_password }: z.output<typeof ResetPasswordRequest>,
  domains: readonly DisownInDomain[],
): Promise<void> {
  const email = await read(
    ctx,
    z.string(),
    sql`select to_jsonb(u.email) as result from ${email_tokens} t, ${users} u
      where ${holds(ctx, "reset_password", token)}`,
  );
  if (email === null) throw invalidToken();
  assertStrongPassword(new_password, email, "/new_password");
  const hash = await hashPassword(new_password, ctx.passwordCost);
  const disowned = disown(ctx, sql`true`, domains);
  const taken = await write(ctx, {
    // What signs in or is granted at this moment comes before this and is seen, or after it and is refused.
    lock: sql`select from ${users} where email = ${email} for no key update`,
    parts: sql`with ${spendToken(ctx, "reset_password", token)}, claimed as (
      update ${users} u set password_hash = ${hash}, ${CLAIMING} from spent where u.id = spent.user_id
      returning u.id, old.email_verified as proven
    ), ${disowned.parts},
    noted as (${note(ctx, "password_reset_completed", {}, sql`from claimed u`)}),
    mailed as (${signInChanged("password_changed", sql`select id as user_id, '' as title from claimed`)})`,
    owes: ["noted", "mailed", ...disowned.owes],
    select: sql`select ${takenJson(ctx)} as result from claimed`,
    result: Taken,
  });
  if (taken === null) throw invalidToken();
  await Promise.all([
    takeEffect(ctx, taken),
    clearAccount(ctx, email).catch((error: unknown) => {
      ctx.log.warn("lockout unavailable", { reason: error instanceof Error ? error.name : "unknown" });
    }),
  ]);
}
