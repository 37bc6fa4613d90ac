import { sql } from "drizzle-orm";
import { users } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import { owed } from "../db/owed.ts";
import type { Context } from "../platform/context.ts";
import { flush } from "../db/outbox.ts";
import type { Message } from "../platform/message.ts";
import { mintToken } from "./email-token.ts";

/** Mails the link that verifies an account's email once more, in one statement; does nothing where it is verified. */
export async function resendVerification(ctx: Context, userId: string): Promise<void> {
  const messages = await readJson<Message[]>(
    ctx,
    sql`with u as (
      select id, email, username from ${users} where id = ${userId}::uuid and not email_verified
    ), ${mintToken(ctx, "verify_email")}
    select ${owed("mailed")} as result`,
  );
  ctx.defer(() => flush(ctx, messages ?? []));
}
