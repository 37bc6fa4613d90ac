import type Stripe from "stripe";
import type { EventTaker } from "../billing/provider-event.ts";
import { idOf, withProvider } from "../billing/stripe.ts";
import type { Context } from "../platform/context.ts";
import { isId } from "../platform/ids.ts";
import { settlePaid, settleRefund, settleUnpaid } from "./settle.ts";

/** What a checkout session of ours says that it is for. */
export const KIND = "certification";

/**
 * Settles certifications by what the provider says of their checkout and charge. Only a payment that is given back in
 * full ends a certification; a part of it that is given back changes nothing.
 */
export const certificationEvents: EventTaker = {
  types: new Set([
    "checkout.session.completed",
    "checkout.session.async_payment_succeeded",
    "checkout.session.async_payment_failed",
    "checkout.session.expired",
    "charge.refunded",
  ]),
  async take(ctx, event) {
    switch (event.type) {
      case "charge.refunded":
        return takeRefund(ctx, event.data.object);
      case "checkout.session.completed":
      case "checkout.session.async_payment_succeeded":
      case "checkout.session.async_payment_failed":
      case "checkout.session.expired":
        return takeCheckout(ctx, event.data.object, event.type === "checkout.session.async_payment_failed");
    }
  },
};

async function takeCheckout(
  ctx: Context,
  { id, metadata }: Stripe.Checkout.Session,
  hasFailed: boolean,
): Promise<void> {
  const certificationId = certificationOf(metadata);
  if (certificationId === null) return;
  const session = await withProvider(ctx, (stripe) => stripe.checkout.sessions.retrieve(id));
  if (session.payment_status !== "unpaid") {
    const paymentIntentId = idOf(session.payment_intent);
    return settlePaid(ctx, certificationId, { checkoutSessionId: session.id, paymentIntentId });
  }
  if (session.status === "expired" || hasFailed) return settleUnpaid(ctx, certificationId, session.id);
}

async function takeRefund(ctx: Context, { id }: Stripe.Charge): Promise<void> {
  const found = await withProvider(ctx, async (stripe) => {
    const charge = await stripe.charges.retrieve(id);
    const paymentIntentId = idOf(charge.payment_intent);
    if (!charge.refunded || paymentIntentId === null) return null;
    // By its checkout, not by our row: of a refund that outruns the payment's event the row knows nothing yet.
    const { data } = await stripe.checkout.sessions.list({ payment_intent: paymentIntentId, limit: 1 });
    const certificationId = certificationOf(data[0]?.metadata ?? null);
    return certificationId === null ? null : { certificationId, paymentIntentId };
  });
  if (found !== null) await settleRefund(ctx, found.certificationId, found.paymentIntentId);
}

/** The certification that a checkout session is for; null for a session of another kind. */
function certificationOf(metadata: Stripe.Metadata | null): string | null {
  const id = metadata?.["certification_id"];
  return metadata?.["kind"] === KIND && id !== undefined && isId(id) ? id : null;
}
