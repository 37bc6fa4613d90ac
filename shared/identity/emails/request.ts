import { sql } from "drizzle-orm";
import * as z from "zod";
import { takeAllowance } from "../../allowances/take.ts";
import { change, verdict } from "../../db/change.ts";
import { users } from "../../db/schema/index.ts";
import { oweNotice } from "../../mail/owe-notice.ts";
import type { Context } from "../../platform/context.ts";
import { sha256 } from "../../platform/crypto.ts";
import { bodyProblem, endedMeanwhile, usedUpToday } from "../../platform/problem.ts";
import { mintToken } from "../email-token.ts";
import { confirmPassword, wrongPassword } from "../passwords/confirm.ts";
import { stillHolds } from "../passwords/disown.ts";
import type { SessionPrincipal } from "../principal.ts";
import type { EmailChange } from "../schemas.ts";

/** How often an address is sent mail in a day (UTC) since somebody says that it is theirs: whoever has it may not have asked. */
const MOST_A_DAY = 5;

/**
 * Asks for another address of the account: mails a link to the new one, and word of it to the present one. The account
 * keeps its address until `confirmEmail`. Where another account has the new address, its owner is told instead of being
 * sent a link, and the caller learns nothing of it. A later request voids the link of an earlier one. Throws
 * `invalid_credentials` and `login_locked` as `confirmPassword` does, `validation_failed` where the account's password is
 * missing, `email_taken` for the address that the account has already, and `rate_limited` for one that was asked for often
 * enough today, by whomever and whether or not an account has it.
 */
export async function requestEmailChange(
  ctx: Context,
  principal: SessionPrincipal,
  { email, password }: z.output<typeof EmailChange>,
): Promise<void> {
  const { userId } = principal;
  const hash = password === undefined ? null : (await confirmPassword(ctx, userId, password, "/password")).hash;
  const asking = verdict(
    {
      ended: sql`not ${stillHolds(principal)}`,
      unproven: sql`a.password_hash is distinct from ${hash}::text`,
      same: sql`a.email = ${email}`,
    },
    "too_often",
  );
  const day = ctx.now().toISOString().slice(0, 10);
  await change(ctx, {
    // Requests of one account take turns: the link of the last one is the one that works.
    lock: sql`select from ${users} where id = ${userId}::uuid for no key update`,
    parts: sql`with asked as (
      select a.id, a.username, ${asking.sql} as outcome from ${users} a where a.id = ${userId}::uuid
    ), taken as (${takeAllowance(
      sql`select 'claimed_address', ${sha256(email)}, ${day}, 1 from asked where outcome = 'done'`,
      { condition: sql`w.used < ${MOST_A_DAY}` },
    )}), target as (
      select id, username, case when outcome = 'done' and not exists (select from taken) then 'too_often' else outcome end as outcome
      from asked
    ), owner as (
      select o.id from ${users} o, target t where o.email = ${email} and t.outcome = 'done'
    ), u as (
      select t.id, ${email}::text as email, t.username from target t
      where t.outcome = 'done' and not exists (select from owner)
    ), ${mintToken(ctx, "confirm_email")}, told as (${oweNotice(
      "email_change",
      sql`select id as user_id, 'email_claimed' as notice, '' as title, null as reason, null::uuid as page_id from owner`,
    )}), warned as (${oweNotice(
      "email_change",
      sql`select id as user_id, 'email_change_requested' as notice, '' as title, ${email}::text as reason,
        null::uuid as page_id from target where outcome = 'done'`,
    )})`,
    owes: ["mailed", "told", "warned"],
    result: sql`select jsonb_build_object('outcome', outcome) as result from target`,
    verdict: asking,
    done: z.object({}),
    refusals: {
      not_found: endedMeanwhile,
      ended: endedMeanwhile,
      unproven: () =>
        hash === null
          ? bodyProblem("validation_failed", "/password", "Send the account's password, too.")
          : wrongPassword("/password"),
      same: () => bodyProblem("email_taken", "/email", "The account has this address already."),
      too_often: () =>
        usedUpToday(
          ctx.now(),
          `This address was sent ${MOST_A_DAY} links today. Open the last of them, or ask again tomorrow.`,
        ),
    },
  });
}
