import type Stripe from "stripe";
import { ONE_OFF_EVENTS, oneOffOf, settlementOf } from "../billing/one-off.ts";
import type { EventTaker } from "../billing/provider-event.ts";
import { idOf, withProvider } from "../billing/stripe.ts";
import type { Context } from "../platform/context.ts";
import { settlePaid, settleRefund, settleUnpaid } from "./settle.ts";

/** The kind that our checkout sessions name in their metadata. */
export const KIND = "certification";

/**
 * Settles certifications by what the provider says of their checkout and charge. Only a full refund ends a certification;
 * a partial one changes nothing.
 */
export const certificationEvents: EventTaker = {
  types: new Set([...ONE_OFF_EVENTS, "charge.refunded"]),
  take: (ctx, event) =>
    event.type === "charge.refunded" ? takeRefund(ctx, event.data.object) : takeCheckout(ctx, event),
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
  const found = await withProvider(ctx, async (stripe) => {
    const charge = await stripe.charges.retrieve(id);
    const paymentIntentId = idOf(charge.payment_intent);
    if (!charge.refunded || paymentIntentId === null) return null;
    // Found by its checkout, not by our row, which knows nothing of the payment yet if the refund's event comes first.
    const { data } = await stripe.checkout.sessions.list({ payment_intent: paymentIntentId, limit: 1 });
    const certificationId = oneOffOf(KIND, data[0]?.metadata);
    return certificationId === null ? null : { certificationId, paymentIntentId };
  });
  if (found !== null) await settleRefund(ctx, found.certificationId, found.paymentIntentId);
}
