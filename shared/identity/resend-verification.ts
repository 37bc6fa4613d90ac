import { sql } from "drizzle-orm";
import * as z from "zod";
import { takeAllowance } from "../allowances/take.ts";
import { change, verdict } from "../db/change.ts";
import { users } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { endedMeanwhile, usedUpToday } from "../platform/problem.ts";
import { mintToken } from "./email-token.ts";

/** How often an account is sent the link anew in a day (UTC): whoever has the address may not have registered it. */
const MOST_A_DAY = 5;

const RESENDING = verdict({}, "too_often");

/**
 * Mails the link that verifies an account's email again, in one statement; does nothing where it is verified. Throws
 * `rate_limited` for an account that asked often enough today.
 */
export async function resendVerification(ctx: Context, userId: string): Promise<void> {
  const id = sql`${userId}::uuid`;
  const day = ctx.now().toISOString().slice(0, 10);
  await change(ctx, {
    parts: sql`with unverified as (
      select id, email, username from ${users} where id = ${id} and not email_verified
    ), taken as (${takeAllowance(
      // By the account, not by its address: nobody else who names that, too, keeps it from being verified.
      sql`select 'claimed_address', u.id::text, ${day}, 1 from unverified u`,
      { condition: sql`w.used < ${MOST_A_DAY}` },
    )}), u as (
      select * from unverified where exists (select from taken)
    ), ${mintToken(ctx, "verify_email")}`,
    owes: ["mailed"],
    result: sql`select jsonb_build_object('outcome', case
        when exists (select from unverified) and not exists (select from taken) then 'too_often' else 'done' end) as result
      from ${users} where id = ${id}`,
    verdict: RESENDING,
    done: z.object({}),
    refusals: {
      not_found: endedMeanwhile,
      too_often: () =>
        usedUpToday(
          ctx.now(),
          `${MOST_A_DAY} new links were mailed today. Open the last of them, or ask again tomorrow.`,
        ),
    },
  });
}
