import { sql } from "drizzle-orm";
import * as z from "zod";
import { setVerifiedState } from "../agents/parts.ts";
import { tellOfNothing } from "../billing/tell-of-nothing.ts";
import { write, writeInTurn } from "../db/change.ts";
import { agents, certifications, isInScreening } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { oweNotice } from "../mail/owe-notice.ts";
import { newId } from "../platform/ids.ts";
import { cancelling } from "../runs/cancelling.ts";
import { FOLLOW_UP } from "../runs/follow-up.ts";
import { buyerNow } from "./buyer.ts";
import { lockCertification } from "./lock.ts";
import { newSession } from "./plan.ts";
import { RESERVING, reserving } from "./reserve.ts";
import { stateWithout } from "./state.ts";
import { oweChanges } from "./told.ts";

/** A checkout session of the provider that was paid. */
export interface Payment {
  checkoutSessionId: string;
  paymentIntentId: string | null;
}

/**
 * Begins the screening of a certification that was paid, in one statement; changes nothing unless it waits for its payment.
 * The certification starts out paused if the agent can't be called any more, or if the suites have grown since the
 * checkout by more than the monthly allowance covers. That a certification is gone which was paid is said in the log as an
 * error, since somebody has to pay it back: a workspace may be deleted while its page is being paid.
 */
export async function settlePaid(ctx: Context, certificationId: string, payment: Payment): Promise<void> {
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  const isThere = await write(ctx, {
    lock: lockCertification(certificationId),
    parts: sql`with target as (
      select c.id as certification_id, ${newId(now)}::uuid as session_id, c.agent_id, ${buyerNow} as buyer_id,
        c.runs_included
      from ${certifications} c join ${agents} a on a.id = c.agent_id where c.id = ${certificationId}::uuid and c.status = 'awaiting_payment'
    ), ${newSession(now)}, ${reserving(now)}, settled as (
      update ${certifications} c set status = s.status, paused_reason = s.paused_reason, paid_at = ${at},
        updated_at = ${at}, screening_session_id = s.session_id, checkout_session_id = ${payment.checkoutSessionId},
        payment_intent_id = ${payment.paymentIntentId}
      from next_state s where c.id = s.certification_id returning c.*
    ), changes as (${oweChanges(sql`select * from settled`, now)})`,
    owes: [...RESERVING, "changes"],
    select: sql`select to_jsonb(exists (select from ${certifications} where id = ${certificationId}::uuid)) as result`,
    result: z.boolean(),
  });
  if (isThere === false) {
    tellOfNothing(ctx, "certification", certificationId, { payment_intent_id: payment.paymentIntentId });
  }
}

/**
 * Removes a certification whose checkout ended without a payment, so that it may be bought again; changes nothing unless
 * it waits for the payment of this checkout. Where the bank refused what its buyer takes for paid (`isRefused`), those are
 * mailed whose the certification would be: it leaves nothing else to see it by.
 */
export async function settleUnpaid(
  ctx: Context,
  certificationId: string,
  checkoutSessionId: string,
  isRefused = false,
): Promise<void> {
  // Not by `write`: it is a step of a sale, too, whose Idempotency-Key is for the certification that was begun.
  await writeInTurn(
    ctx,
    {
      lock: lockCertification(certificationId),
      parts: sql`with deleted as (
        delete from ${certifications} c using ${agents} a where a.id = c.agent_id and c.id = ${certificationId}::uuid
          and c.status = 'awaiting_payment'
          and coalesce(c.checkout_session_id, ${checkoutSessionId}) = ${checkoutSessionId}
        returning c.id, c.agent_id, a.name, ${buyerNow} as buyer_id
      ), mailed as (
        ${oweNotice(
          "certification_result",
          sql`select buyer_id as user_id, 'certification_unpaid' as notice, name as title,
            'The bank refused it, and nothing was charged.' as reason, agent_id as page_id
          from deleted where ${isRefused}::boolean`,
        )}
      )`,
      owes: ["mailed"],
      select: sql`select to_jsonb(id) as result from deleted`,
      result: z.uuid(),
    },
    [],
  );
}

/**
 * Ends a certification whose payment was refunded in full, at whatever stage it is: its queued runs are cancelled, its
 * session is over once no run is under way, what was issued is revoked, and the agent is no longer certified. This holds,
 * too, if the refund is heard of before the payment.
 */
export async function settleRefund(ctx: Context, certificationId: string, paymentIntentId: string): Promise<void> {
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  await write(ctx, {
    lock: lockCertification(certificationId),
    parts: sql`with updated as (
      update ${certifications} c set status = 'refunded', payment_intent_id = ${paymentIntentId}, paused_reason = null,
        revoked_at = case when c.issued_at is not null then coalesce(c.revoked_at, ${at}) end, updated_at = ${at}
      where c.id = ${certificationId}::uuid and c.status <> 'refunded'
      returning c.*, old.status as previous
    ), changes as (${oweChanges(sql`select * from updated`, now)}
    ), shown as (
      ${setVerifiedState(sql`select agent_id from updated`, stateWithout(sql`select id from updated`, now))}
    ), ${cancelling(sql`r.screening_session_id in (select screening_session_id from updated)`, now, {
      called_off: sql`select u.screening_session_id from updated u where ${isInScreening(sql`u.previous`)}`,
    })}`,
    owes: [...FOLLOW_UP, "changes"],
    select: sql`select to_jsonb(id) as result from updated`,
    result: z.uuid(),
  });
  ctx.cache.invalidate("board");
}
