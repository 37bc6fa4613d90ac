import { sql } from "drizzle-orm";
import * as z from "zod";
import { note } from "../../analytics/event.ts";
import { write } from "../../db/change.ts";
import { users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { mintToken } from "../email-token.ts";

/**
 * Mails the owner of an account with a password a link to reset it, in one statement. For any other address the same is
 * done with a mail to nobody: a write is committed and a message published, so that the time tells nothing either.
 */
export async function forgotPassword(ctx: Context, email: string): Promise<void> {
  await write(ctx, {
    parts: sql`with u as (
      select id, email, username from ${users} where email = ${email} and password_hash is not null
    ), ${mintToken(ctx, "reset_password", { always: true })},
    noted as (${note(ctx, "password_reset_requested")})`,
    owes: ["mailed", "noted"],
    select: sql`select to_jsonb(u.id) as result from u`,
    result: z.uuid(),
  });
}
