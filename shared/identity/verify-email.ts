import { sql } from "drizzle-orm";
import * as z from "zod";
import { note } from "../analytics/event.ts";
import { write } from "../db/change.ts";
import { users } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { invalidToken, spendToken } from "./email-token.ts";

/** Marks an account's email as verified, in one statement; one that was verified before stays so. Throws `invalid_token`. */
export async function verifyEmail(ctx: Context, token: string): Promise<void> {
  const verified = await write(ctx, {
    parts: sql`with ${spendToken(ctx, "verify_email", token)}, u as (
      update ${users} u set email_verified = true from spent where u.id = spent.user_id
      returning u.id, old.email_verified as before
    ), noted as (${note(ctx, "email_verified", {}, sql`from u where not u.before`)})`,
    owes: ["noted"],
    select: sql`select to_jsonb(u.id) as result from u`,
    result: z.uuid(),
  });
  if (verified === null) throw invalidToken();
}
