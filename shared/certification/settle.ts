import { sql } from "drizzle-orm";
import { setVerifiedState } from "../agents/parts.ts";
import { certifications } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { flush } from "../db/outbox.ts";
import { owed } from "../db/owed.ts";
import type { Message } from "../platform/message.ts";
import { cancelling } from "../runs/cancel.ts";
import { FOLLOW_UP } from "../runs/follow-up.ts";
import { dispatchMessage } from "../runs/messages.ts";
import { lockCertification } from "./lock.ts";
import { newPlan, newSession, reservedJson, reserving } from "./reserve.ts";
import { stateWithout } from "./state.ts";

/** A checkout session of the provider that was paid. */
export interface Payment {
  checkoutSessionId: string;
  paymentIntentId: string | null;
}

/**
 * Begins the screening of a certification that was paid, in one statement; of one that does not wait for its payment
 * nothing changes. It begins as paused where the agent can't be called meanwhile, or where the suites have grown since the
 * checkout by more than the monthly allowance pays.
 */
export async function settlePaid(ctx: Context, certificationId: string, payment: Payment): Promise<void> {
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  const ctes = sql`with target as (
    select c.id as certification_id, ${newId(now)}::uuid as session_id, c.agent_id, c.user_id as buyer_id, c.runs_included
    from ${certifications} c where c.id = ${certificationId}::uuid and c.status = 'awaiting_payment'
  ), ${newPlan}, ${newSession(now)}, ${reserving(ctx)}, settled as (
    update ${certifications} c set status = o.status, paused_reason = o.paused_reason, paid_at = ${at}, updated_at = ${at},
      screening_session_id = o.session_id, checkout_session_id = ${payment.checkoutSessionId},
      payment_intent_id = ${payment.paymentIntentId}
    from outcome o where c.id = o.certification_id
  )`;
  const result = sql`select ${reservedJson} as result`;
  const runs = await writeJson<{ id: string; agent_id: string }[]>(
    ctx,
    ctes,
    result,
    lockCertification(certificationId),
  );
  ctx.defer(() => flush(ctx, runs.map(dispatchMessage)));
}

/** Takes back a certification whose checkout ended without a payment; it may be bought again. Any other stays as it is. */
export async function settleUnpaid(ctx: Context, certificationId: string, checkoutSessionId: string): Promise<void> {
  const ctes = sql`with dropped as (
    delete from ${certifications} c where c.id = ${certificationId}::uuid and c.status = 'awaiting_payment'
      and coalesce(c.checkout_session_id, ${checkoutSessionId}) = ${checkoutSessionId}
  )`;
  await writeJson(ctx, ctes, sql`select to_jsonb(true) as result`, lockCertification(certificationId));
}

/**
 * Ends a certification whose payment was given back in full, whatever has become of it: its open runs are cancelled, what
 * was issued is revoked, and the agent is no longer certified. Also where the refund is heard of before the payment.
 */
export async function settleRefund(ctx: Context, certificationId: string, paymentIntentId: string): Promise<void> {
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  const ctes = sql`with undone as (
    update ${certifications} c set status = 'refunded', payment_intent_id = ${paymentIntentId}, paused_reason = null,
      revoked_at = case when c.issued_at is not null then coalesce(c.revoked_at, ${at}) end, updated_at = ${at}
    where c.id = ${certificationId}::uuid and c.status <> 'refunded'
    returning c.id, c.agent_id, c.screening_session_id
  ), shown as (
    ${setVerifiedState(sql`select agent_id from undone`, stateWithout(sql`select id from undone`, now))}
  ), ${cancelling(sql`r.screening_session_id in (select screening_session_id from undone)`, now)}`;
  const result = sql`select ${owed(...FOLLOW_UP)} as result`;
  const messages = await writeJson<Message[]>(ctx, ctes, result, lockCertification(certificationId));
  ctx.cache.invalidate("board");
  ctx.defer(() => flush(ctx, messages));
}
