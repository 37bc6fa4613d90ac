import type Stripe from "stripe";
import { LOST_DISPUTE, lostDispute } from "../billing/disputes.ts";
import { ONE_OFF_EVENTS, oneOffOf, settlementOf } from "../billing/one-off.ts";
import type { EventTaker } from "../billing/provider-event.ts";
import { idOf, withProvider } from "../billing/stripe.ts";
import type { Context } from "../platform/context.ts";
import { settlePaid, settleRefund, settleUnpaid } from "./settle.ts";

/** The kind that our checkout sessions name in their metadata. */
export const KIND = "certification";

/**
 * Settles certifications by what the provider says of their checkout and charge. Only a full refund ends a certification,
 * or a dispute that was lost; a partial refund changes nothing. One that ended stays so where the refund fails later: what was
 * revoked is revoked. That its buyer has neither the certification nor the money is said in the log as an error, since
 * somebody has to pay it back in another way.
 */
export const certificationEvents: EventTaker = {
  types: new Set([...ONE_OFF_EVENTS, "charge.refunded", "refund.failed", LOST_DISPUTE]),
  async take(ctx, event) {
    if (event.type === "charge.refunded") return takeRefund(ctx, event.data.object);
    if (event.type === "refund.failed") return takeFailedRefund(ctx, event.data.object);
    if (event.type !== LOST_DISPUTE) return takeCheckout(ctx, event);
    const dispute = await lostDispute(ctx, event.data.object);
    if (dispute !== null) await withdraw(ctx, idOf(dispute.payment_intent));
  },
};

async function takeCheckout(ctx: Context, event: Stripe.Event): Promise<void> {
  const settled = await settlementOf(ctx, KIND, event);
  if (settled === null) return;
  const { id, session, outcome } = settled;
  if (outcome === "paid") {
    await settlePaid(ctx, id, { checkoutSessionId: session.id, paymentIntentId: idOf(session.payment_intent) });
  }
  if (outcome === "failed") await settleUnpaid(ctx, id, session.id);
}

async function takeRefund(ctx: Context, { id }: Stripe.Charge): Promise<void> {
  const charge = await withProvider(ctx, (stripe) => stripe.charges.retrieve(id));
  if (charge.refunded) await withdraw(ctx, idOf(charge.payment_intent));
}

async function takeFailedRefund(ctx: Context, { id, payment_intent }: Stripe.Refund): Promise<void> {
  const certification_id = await certificationOf(ctx, idOf(payment_intent));
  if (certification_id !== null)
    ctx.log.error("a refund of a certification failed: pay it back in another way", {
      certification_id,
      refund_id: id,
    });
}

/** Ends the certification whose payment went back. */
async function withdraw(ctx: Context, paymentIntentId: string | null): Promise<void> {
  const certificationId = await certificationOf(ctx, paymentIntentId);
  if (certificationId !== null && paymentIntentId !== null) await settleRefund(ctx, certificationId, paymentIntentId);
}

/** The certification that a payment is for; found by its checkout, since our row may know nothing of the payment yet. */
async function certificationOf(ctx: Context, paymentIntentId: string | null): Promise<string | null> {
  if (paymentIntentId === null) return null;
  const { data } = await withProvider(ctx, (stripe) =>
    stripe.checkout.sessions.list({ payment_intent: paymentIntentId, limit: 1 }),
  );
  return oneOffOf(KIND, data[0]?.metadata);
}
