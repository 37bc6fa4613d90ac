import { sql } from "drizzle-orm";
import type * as z from "zod";
import { note } from "../analytics/event.ts";
import { email_tokens, sessions, users } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { flush } from "../queue/outbox.ts";
import { owed } from "../queue/owed.ts";
import type { Message } from "../queue/publish.ts";
import { ACCESS_TOKEN_SECONDS } from "./access-token.ts";
import { holds, invalidToken, spendToken } from "./email-token.ts";
import { assertStrongPassword, hashPassword } from "./password.ts";
import type { ResetPasswordRequest } from "./schemas.ts";
import { clearAccount } from "./lockout.ts";
import { denySession } from "./sessions.ts";

interface Outcome {
  ended: string[];
  owed: Message[];
}

/**
 * Sets a new password by a mailed token, ends every session of the account and clears its lockout. Throws `invalid_token`,
 * and `weak_password`, which leaves the token in force. A token is looked up first: only one that holds is worth a hash,
 * and the policy asks for the account's email.
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
  const outcome = await readJson<Outcome>(
    ctx,
    sql`with ${spendToken(ctx, "reset_password", token)}, u as (
      update ${users} u set password_hash = ${hash} from spent where u.id = spent.user_id returning u.id
    ), ended as (
      update ${sessions} s set revoked_at = ${ctx.now().toISOString()}::timestamptz from u
      where s.user_id = u.id and s.revoked_at is null returning s.id
    ), noted as (${note(ctx, "password_reset_completed")})
    select jsonb_build_object('ended', (select coalesce(jsonb_agg(id), '[]') from ended), 'owed', ${owed("noted")})
      as result from u`,
  );
  if (outcome === null) throw invalidToken();
  ctx.defer(() => flush(ctx, outcome.owed));
  await Promise.all([
    clearAccount(ctx, email),
    ...outcome.ended.map((id) => denySession(ctx, id, ACCESS_TOKEN_SECONDS)),
  ]).catch((error: unknown) => {
    ctx.log.warn("denylist unavailable", { reason: error instanceof Error ? error.name : "unknown" });
  });
}
