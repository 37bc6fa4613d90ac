import { sql } from "drizzle-orm";
import { users } from "../../db/schema/index.ts";
import { readJson } from "../../db/statement.ts";
import { owed } from "../../db/owed.ts";
import type { Context } from "../../platform/context.ts";
import { Problem } from "../../platform/problem.ts";
import { flush } from "../../db/outbox.ts";
import type { Message } from "../../platform/message.ts";
import { mintToken } from "../email-token.ts";

/**
 * Mails an account without a password the second factor of its deletion, in one statement. Throws `password_account` for
 * one that has a password: there the password is the second factor.
 */
export async function mailConfirmationLink(ctx: Context, userId: string): Promise<void> {
  const messages = await readJson<Message[]>(
    ctx,
    sql`with u as (
      select id, email, username from ${users} where id = ${userId}::uuid and password_hash is null
    ), ${mintToken(ctx, "confirm_deletion")}
    select ${owed("mailed")} as result from u`,
  );
  if (messages === null) {
    throw new Problem("password_account", "This account has a password; confirm the deletion with that.");
  }
  ctx.defer(() => flush(ctx, messages));
}
