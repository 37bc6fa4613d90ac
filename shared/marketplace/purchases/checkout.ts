import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import * as z from "zod";
import { underKey } from "../../billing/stripe.ts";
import { read } from "../../db/change.ts";
import { purchases } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { frontendPage } from "../../platform/frontend.ts";
import { PurchaseRead } from "../shown.ts";
import type { Order } from "./begin.ts";
import { refusalOf, sellerNotReady } from "./refuse.ts";

const CheckoutState = PurchaseRead.pick({ status: true, checkout_url: true }).extend({ had_checkout: z.boolean() });

/**
 * Opens the page where a purchase is paid, and returns its URL. A repeated request, which knows the purchase as it was at
 * first, gets the page that has been opened since; null where the purchase has ended without one. Throws
 * `seller_not_ready`, now and for each repetition, where the provider can't pay the seller.
 */
export async function openCheckout(
  ctx: Context,
  stripe: Stripe,
  purchaseId: string,
  order: Order,
): Promise<string | null> {
  if (ctx.idempotency?.replayed === true) {
    const current = await read(
      ctx,
      CheckoutState,
      sql`select jsonb_build_object('status', status, 'checkout_url', checkout_url,
          'had_checkout', checkout_session_id is not null) as result from ${purchases}
        where id = ${purchaseId}::uuid`,
    );
    if (current?.status === "FAILED" && !current.had_checkout) throw sellerNotReady();
    if (current?.status !== "AWAITING_PAYMENT" || current.checkout_url !== null) return current?.checkout_url ?? null;
  }
  const wanted = sessionParams(frontendPage(ctx.env, "/marketplace/purchases/{id}", purchaseId), purchaseId, order);
  const session = await underKey(`purchase-${purchaseId}`, (options) =>
    stripe.checkout.sessions.create(wanted, options),
  ).catch(async (error: unknown) => {
    throw await refusalOf(ctx, purchaseId, order, error);
  });
  // Not by `write`, which would keep this step under the request's Idempotency-Key: that one is for the whole answer.
  return read(
    ctx,
    z.string(),
    sql`update ${purchases} set checkout_session_id = coalesce(checkout_session_id, ${session.id}),
        checkout_url = coalesce(checkout_url, ${session.url})
      where id = ${purchaseId}::uuid returning to_jsonb(checkout_url) as result`,
  );
}

function sessionParams(
  page: string,
  purchaseId: string,
  { agent_name: name, price_cents: unit_amount, fee_cents: application_fee_amount, destination }: Order,
): Stripe.Checkout.SessionCreateParams {
  return {
    mode: "payment",
    line_items: [{ quantity: 1, price_data: { currency: "usd", unit_amount, product_data: { name } } }],
    payment_intent_data: { application_fee_amount, transfer_data: { destination } },
    metadata: { kind: "purchase", purchase_id: purchaseId },
    success_url: `${page}?checkout=success`,
    cancel_url: `${page}?checkout=cancel`,
  };
}
