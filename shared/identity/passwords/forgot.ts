import { sql } from "drizzle-orm";
import * as z from "zod";
import { note } from "../../analytics/event.ts";
import { write } from "../../db/change.ts";
import { users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { mintToken, recentTokens } from "../email-token.ts";

/** How many links an account is mailed within the time that one is valid: anybody may ask for them. */
const MAX_LINKS = 5;

/**
 * Mails the owner of an account with a password a link to reset it, in one statement. For any other address the same is
 * done with a mail to nobody: a write is committed and a message published, so that the time tells nothing either.
 * Links that were mailed before stay valid, else whoever asks again and again would keep the owner out; more than five an
 * hour are not mailed.
 */
export async function forgotPassword(ctx: Context, email: string): Promise<void> {
  await write(ctx, {
    // Requests for one account take turns, so that the limit is not passed.
    lock: sql`select from ${users} where email = ${email} for no key update`,
    parts: sql`with u as (
      select id, email, username from ${users} where email = ${email} and password_hash is not null
        and ${recentTokens(ctx, "reset_password")} < ${MAX_LINKS}
    ), ${mintToken(ctx, "reset_password", { beside: true })},
    noted as (${note(ctx, "password_reset_requested")})`,
    owes: ["mailed", "noted"],
    select: sql`select to_jsonb(u.id) as result from u`,
    result: z.uuid(),
  });
}
