import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../../db/change.ts";
import { users } from "../../db/schema/index.ts";
import { oweNotice } from "../../mail/owe-notice.ts";
import type { Context } from "../../platform/context.ts";
import { bodyProblem, endedMeanwhile } from "../../platform/problem.ts";
import { mintToken } from "../email-token.ts";
import { confirmPassword, wrongPassword } from "../passwords/confirm.ts";
import { stillHolds } from "../passwords/disown.ts";
import type { SessionPrincipal } from "../principal.ts";
import type { EmailChange } from "../schemas.ts";

/**
 * Asks for another address of the account: mails a link to the new one, and word of it to the present one. The account
 * keeps its address until `confirmEmail`. Where another account has the new address, its owner is told instead of being
 * sent a link, and the caller learns nothing of it. A later request voids the link of an earlier one. Throws
 * `invalid_credentials` and `login_locked` as `confirmPassword` does, `validation_failed` where the account's password is
 * missing, `email_taken` for the address that the account has already.
 */
export async function requestEmailChange(
  ctx: Context,
  principal: SessionPrincipal,
  { email, password }: z.output<typeof EmailChange>,
): Promise<void> {
  const { userId } = principal;
  const hash = password === undefined ? null : (await confirmPassword(ctx, userId, password, "/password")).hash;
  const asking = verdict({
    ended: sql`not ${stillHolds(principal)}`,
    unproven: sql`a.password_hash is distinct from ${hash}::text`,
    same: sql`a.email = ${email}`,
  });
  await change(ctx, {
    // Requests of one account take turns: the link of the last one is the one that works.
    lock: sql`select from ${users} where id = ${userId}::uuid for no key update`,
    parts: sql`with target as (
      select a.id, a.username, ${asking.sql} as outcome from ${users} a where a.id = ${userId}::uuid
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
    },
  });
}
