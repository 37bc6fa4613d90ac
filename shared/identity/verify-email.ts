import { sql } from "drizzle-orm";
import { note } from "../analytics/event.ts";
import { users } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import { owed } from "../db/owed.ts";
import type { Context } from "../platform/context.ts";
import { flush } from "../db/outbox.ts";
import type { Message } from "../platform/message.ts";
import { invalidToken, spendToken } from "./email-token.ts";

/** Takes an account's email as verified, in one statement; one that was verified before stays so. Throws `invalid_token`. */
export async function verifyEmail(ctx: Context, token: string): Promise<void> {
  const messages = await readJson<Message[]>(
    ctx,
    sql`with ${spendToken(ctx, "verify_email", token)}, u as (
      update ${users} u set email_verified = true from spent where u.id = spent.user_id
      returning u.id, old.email_verified as before
    ), noted as (${note(ctx, "email_verified", {}, sql`from u where not u.before`)})
    select ${owed("noted")} as result from u`,
  );
  if (messages === null) throw invalidToken();
  ctx.defer(() => flush(ctx, messages));
}
