import { sql } from "drizzle-orm";
import { note } from "../../analytics/event.ts";
import { users } from "../../db/schema/index.ts";
import { readJson } from "../../db/statement.ts";
import { owed } from "../../db/owed.ts";
import type { Context } from "../../platform/context.ts";
import { flush } from "../../db/outbox.ts";
import type { Message } from "../../platform/message.ts";
import { mintToken } from "../email-token.ts";

/**
 * Mails the owner of a password account a link to reset it, in one statement. For any other address the same is done but
 * the mail has no reader: a write committed and a message published, so that the time tells nothing either.
 */
export async function forgotPassword(ctx: Context, email: string): Promise<void> {
  const messages = await readJson<Message[]>(
    ctx,
    sql`with u as (
      select id, email, username from ${users} where email = ${email} and password_hash is not null
    ), ${mintToken(ctx, "reset_password", { always: true })},
    noted as (${note(ctx, "password_reset_requested")})
    select ${owed("mailed", "noted")} as result`,
  );
  ctx.defer(() => flush(ctx, messages ?? []));
}
