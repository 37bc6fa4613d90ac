import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../../db/change.ts";
import { users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { Problem } from "../../platform/problem.ts";
import { mintToken } from "../email-token.ts";

/**
 * Mails an account without a password the link that confirms its deletion, in one statement. Throws `password_account`
 * for an account with a password, which is then its second factor.
 */
export async function mailConfirmationLink(ctx: Context, userId: string): Promise<void> {
  const mailed = await write(ctx, {
    parts: sql`with u as (
      select id, email, username from ${users} where id = ${userId}::uuid and password_hash is null
    ), ${mintToken(ctx, "confirm_deletion")}`,
    owes: ["mailed"],
    select: sql`select to_jsonb(true) as result from u`,
    result: z.literal(true),
  });
  if (mailed === null) {
    throw new Problem("password_account", "This account has a password; confirm the deletion with it.");
  }
}
