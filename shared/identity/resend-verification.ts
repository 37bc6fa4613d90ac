import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { users } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { mintToken } from "./email-token.ts";

/** Mails the link that verifies an account's email again, in one statement; does nothing where it is verified. */
export async function resendVerification(ctx: Context, userId: string): Promise<void> {
  await write(ctx, {
    parts: sql`with u as (
      select id, email, username from ${users} where id = ${userId}::uuid and not email_verified
    ), ${mintToken(ctx, "verify_email")}`,
    owes: ["mailed"],
    select: sql`select to_jsonb(u.id) as result from u`,
    result: z.uuid(),
  });
}
