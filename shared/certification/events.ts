import type Stripe from "stripe";
import { PAYBACK_EVENTS, paidBack } from "../billing/disputes.ts";
import { ONE_OFF_EVENTS, oneOffOf, settlementOf } from "../billing/one-off.ts";
import type { EventTaker } from "../billing/provider-event.ts";
import { idOf, withProvider } from "../billing/stripe.ts";
import type { Context } from "../platform/context.ts";
import { settlePaid, settleRefund, settleUnpaid } from "./settle.ts";

/** The kind that our checkout sessions name in their metadata. */
export const KIND = "certification";

/**
 * Settles certifications by what the provider says of their checkout and charge. One ends once all of its price went back, by
 * refunds and disputes that were lost; a part of it changes nothing. One that ended stays so where a refund fails or is called
 * off later, and ends as well where that is heard of first, by how much was refunded at each refund: what was revoked is
 * revoked. That its buyer has not got the money is said in the log as an error, since somebody has to pay it back in another way.
 */
export const certificationEvents: EventTaker = {
  types: new Set([...ONE_OFF_EVENTS, ...PAYBACK_EVENTS]),
  async take(ctx, event) {
    if (event.type === "refund.failed") return takeLostRefund(ctx, event.data.object, "failed");
    if (event.type === "refund.updated") return takeLostRefund(ctx, event.data.object, "canceled");
    if (event.type === "charge.refunded") await followCharge(ctx, event.data.object.id, event.data.object);
    else if (event.type === "charge.dispute.closed") await followCharge(ctx, idOf(event.data.object.charge));
    else await takeCheckout(ctx, event);
  },
};

async function takeCheckout(ctx: Context, event: Stripe.Event): Promise<void> {
  const settled = await settlementOf(ctx, KIND, event);
  if (settled === null) return;
  const { id, session, outcome } = settled;
  if (outcome === "paid") {
    await settlePaid(ctx, id, { checkoutSessionId: session.id, paymentIntentId: idOf(session.payment_intent) });
  }
  if (outcome === "failed")
    await settleUnpaid(ctx, id, session.id, event.type === "checkout.session.async_payment_failed");
}

/** Of a refund that failed two events tell: only `refund.failed` counts. Any other news of a refund changes nothing. */
async function takeLostRefund(ctx: Context, { id }: Stripe.Refund, loss: "failed" | "canceled"): Promise<void> {
  const { status, charge } = await withProvider(ctx, (stripe) => stripe.refunds.retrieve(id));
  if (status !== loss) return;
  const certification_id = await followCharge(ctx, idOf(charge));
  if (certification_id !== null)
    ctx.log.error(
      `a refund of a certification ${loss === "failed" ? "failed" : "was called off"}: pay it back in another way`,
      { certification_id, refund_id: id },
    );
}

/**
 * Ends the certification that a charge paid for, if all of its price went back by now, or had by a refund, with which it was as
 * `then`. Returns its id; null where it paid for none.
 */
async function followCharge(ctx: Context, chargeId: string | null, then?: Stripe.Charge): Promise<string | null> {
  if (chargeId === null) return null;
  const { charge, back } = await withProvider(ctx, async (stripe) => {
    const now = await stripe.charges.retrieve(chargeId);
    const sums = await Promise.all([now, then ?? now].map((one) => paidBack(stripe, one)));
    return { charge: now, back: Math.max(...sums) };
  });
  const paymentIntentId = idOf(charge.payment_intent);
  const certificationId = await certificationOf(ctx, paymentIntentId);
  if (certificationId !== null && paymentIntentId !== null && back >= charge.amount)
    await settleRefund(ctx, certificationId, paymentIntentId);
  return certificationId;
}

/** The certification that a payment is for; found by its checkout, since our row may know nothing of the payment yet. */
async function certificationOf(ctx: Context, paymentIntentId: string | null): Promise<string | null> {
  if (paymentIntentId === null) return null;
  const { data } = await withProvider(ctx, (stripe) =>
    stripe.checkout.sessions.list({ payment_intent: paymentIntentId, limit: 1 }),
  );
  return oneOffOf(KIND, data[0]?.metadata);
}
