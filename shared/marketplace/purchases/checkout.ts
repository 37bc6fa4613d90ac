import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import * as z from "zod";
import { oweUnkeptEnd } from "../../billing/closing.ts";
import { type Payments, underKey } from "../../billing/stripe.ts";
import { read, writeInTurn } from "../../db/change.ts";
import { purchases, seller_accounts, users } from "../../db/schema/index.ts";
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
  stripe: Payments,
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
    if (current?.status !== "AWAITING_PAYMENT" || current.had_checkout) return current?.checkout_url ?? null;
  }
  const wanted = sessionParams(frontendPage(ctx.env, "/marketplace/purchases/{id}", purchaseId), purchaseId, order);
  const session = await underKey(
    `purchase-${purchaseId}`,
    (options) => stripe.checkout.sessions.create(wanted, options),
    ctx.redis,
  ).catch(async (error: unknown) => {
    throw await refusalOf(ctx, purchaseId, order, error);
  });
  const opened = await keepPage(ctx, purchaseId, order, session);
  if (opened === null) throw sellerNotReady();
  return opened.checkout_url;
}

const Opened = z.object({ checkout_url: z.string().nullable() });

/**
 * Keeps a page with its purchase, and returns the one that it has. Where its account at the provider is not the seller's any
 * more, because the owner of the seller's address came meanwhile, nobody may pay there: the queue closes it, the purchase ends
 * without one, and the result is null; so does a page that was made while the purchase failed in another request. Takes turns
 * with that at the seller's row.
 */
function keepPage(
  ctx: Context,
  purchaseId: string,
  { destination }: Order,
  { id, url }: Stripe.Checkout.Session,
): Promise<z.output<typeof Opened> | null> {
  const isPaid = sql`exists (select from ${seller_accounts} s
    where s.user_id = p.seller_id and s.account_id = ${destination} and s.disowned_at is null)`;
  const step = {
    lock: sql`select from ${users} u join ${purchases} p on p.seller_id = u.id where p.id = ${purchaseId}::uuid
      for no key update of u`,
    parts: sql`with kept as (
      update ${purchases} p set checkout_session_id = coalesce(p.checkout_session_id, ${id}),
        checkout_url = case when p.checkout_session_id is null then ${url} else p.checkout_url end
      where p.id = ${purchaseId}::uuid and ${isPaid}
        and (p.status = 'AWAITING_PAYMENT' or p.checkout_session_id = ${id}) returning p.checkout_url
    ), failed as (
      update ${purchases} p set status = 'FAILED'
      where p.id = ${purchaseId}::uuid and not ${isPaid} and p.status = 'AWAITING_PAYMENT'
        and p.checkout_session_id is null
    ), pages as (
      ${oweUnkeptEnd(id)}
    )`,
    owes: ["pages"] as const,
    select: sql`select jsonb_build_object('checkout_url', checkout_url) from kept`,
    result: Opened,
  };
  // No step of the request's Idempotency-Key: that one is for the whole answer.
  return writeInTurn(ctx, step, []);
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
