import type Stripe from "stripe";
import type { EventTaker } from "../billing/provider-event.ts";
import { withProvider } from "../billing/stripe.ts";
import type { Context } from "../platform/context.ts";
import { isId } from "../platform/ids.ts";
import { completePurchase, failPurchase } from "./purchases-settle.ts";

const ASYNC_FAILED = "checkout.session.async_payment_failed";

/** Settles purchases: paid ones are completed; those that expired or whose delayed payment failed have failed. */
export const purchaseEvents: EventTaker = {
  types: new Set([
    "checkout.session.completed",
    "checkout.session.async_payment_succeeded",
    ASYNC_FAILED,
    "checkout.session.expired",
  ]),
  async take(ctx, event) {
    const { id, metadata } = event.data.object as Stripe.Checkout.Session;
    const purchaseId = metadata?.["purchase_id"];
    if (metadata?.["kind"] !== "purchase" || purchaseId === undefined || !isId(purchaseId)) return;
    const session = await readSession(ctx, id);
    if (session.payment_status !== "unpaid") return completePurchase(ctx, purchaseId, id);
    if (session.status === "expired" || event.type === ASYNC_FAILED) return failPurchase(ctx, purchaseId, id);
  },
};

function readSession(ctx: Context, id: string): Promise<Stripe.Checkout.Session> {
  return withProvider(ctx, (stripe) => stripe.checkout.sessions.retrieve(id));
}
