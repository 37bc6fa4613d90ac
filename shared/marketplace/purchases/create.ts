import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import { requireBilling } from "../../billing/mode.ts";
import { frontendPage } from "../../billing/page.ts";
import { ifKnown, underKey, withProvider } from "../../billing/stripe.ts";
import { purchases } from "../../db/schema/index.ts";
import { readJson, writeJson } from "../../db/statement.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { newId } from "../../platform/ids.ts";
import { notFound, Problem } from "../../platform/problem.ts";
import { onOffer } from "../listings/view.ts";
import { failPurchase } from "./settle.ts";
import { purchaseJson, type PurchaseRow } from "./view.ts";

/** What a checkout is made of: nothing that may change, so that each try asks the provider for the same. */
interface Order {
  /** The connected account that is paid. */
  destination: string;
  agent_name: string;
  price_cents: number;
  fee_cents: number;
}

interface Begun {
  purchase: PurchaseRow;
  order: Order;
}

type Outcome = { outcome: "no_listing" } | { outcome: "own_listing" } | ({ outcome: "begun" | "open" } & Begun);

/**
 * Begins the purchase of a listing, or gives the caller's open one again as long as it can be paid; `isNew` tells
 * which. The row comes first and is the key of its checkout: whatever is lost in between, the next call finds the one
 * and gets the other. Throws `billing_disabled`, `payment_not_configured`, 404, `own_listing`.
 */
export async function createPurchase(
  ctx: Context,
  principal: SessionPrincipal,
  listingId: string,
): Promise<{ purchase: PurchaseRow; isNew: boolean }> {
  requireBilling(ctx.env);
  return withProvider(ctx, async (stripe) => {
    await failExpired(ctx, stripe, principal.userId, listingId);
    const outcome = await begin(ctx, principal.userId, listingId);
    if (outcome.outcome === "no_listing") throw notFound("listing");
    if (outcome.outcome === "own_listing")
      throw new Problem("own_listing", "This is your own listing; you have its agent.");
    const checkout_url = outcome.purchase.checkout_url ?? (await openCheckout(ctx, stripe, outcome));
    return { purchase: { ...outcome.purchase, checkout_url }, isNew: outcome.outcome === "begun" };
  });
}

/** Ends the caller's open purchase where its checkout is unknown, or has expired and the event of that is still to come. */
async function failExpired(ctx: Context, stripe: Stripe, buyerId: string, listingId: string): Promise<void> {
  const open = await readJson<{ id: string; session: string }>(
    ctx,
    sql`select jsonb_build_object('id', p.id, 'session', p.checkout_session_id) as result from ${purchases} p
      where p.listing_id = ${listingId}::uuid and p.buyer_id = ${buyerId}::uuid and p.status = 'AWAITING_PAYMENT'
        and p.checkout_session_id is not null`,
  );
  if (open === null) return;
  const session = await ifKnown(stripe.checkout.sessions.retrieve(open.session));
  if (session === null || session.status === "expired") await failPurchase(ctx, open.id, open.session);
}

/** The platform keeps a tenth, rounded half up to the cent. */
function begin(ctx: Context, buyerId: string, listingId: string): Promise<Outcome> {
  const buyer = sql`${buyerId}::uuid`;
  const id = sql`${newId(ctx.now())}::uuid`;
  const ctes = sql`with offer as (
    select l.*, a.name, a.declared_configuration, s.account_id from ${onOffer} and l.id = ${listingId}::uuid
  ), p as (
    insert into ${purchases} as p (id, listing_id, agent_id, seller_id, buyer_id, agent_name, declared_configuration,
      price_usd, fee_usd)
    select ${id}, o.id, o.agent_id, o.seller_id, ${buyer}, o.name, o.declared_configuration, o.price_usd,
      round(o.price_usd / 10, 2)
    from offer o where o.seller_id <> ${buyer}
    on conflict (listing_id, buyer_id) where status = 'AWAITING_PAYMENT' do update set buyer_id = excluded.buyer_id
    returning *
  )`;
  const result = sql`select case
      when p.id is not null then jsonb_build_object('outcome', case p.id when ${id} then 'begun' else 'open' end,
        'purchase', ${purchaseJson}, 'order', jsonb_build_object('destination', o.account_id,
          'agent_name', p.agent_name, 'price_cents', (p.price_usd * 100)::integer,
          'fee_cents', (p.fee_usd * 100)::integer))
      when o.id is not null then jsonb_build_object('outcome', 'own_listing')
      else jsonb_build_object('outcome', 'no_listing') end as result
    from (select) nothing left join offer o on true left join p on true`;
  return writeJson<Outcome>(ctx, ctes, result);
}

/**
 * The page where a purchase is paid. A repeated request, which knows the purchase as it was at first, gets what has been
 * opened since; null where it has ended without.
 */
async function openCheckout(ctx: Context, stripe: Stripe, { purchase, order }: Begun): Promise<string | null> {
  if (ctx.idempotency?.replayed === true) {
    const now = await readJson<{ status: PurchaseRow["status"]; url: string | null }>(
      ctx,
      sql`select jsonb_build_object('status', status, 'url', checkout_url) as result from ${purchases}
        where id = ${purchase.id}::uuid`,
    );
    if (now?.status !== "AWAITING_PAYMENT" || now.url !== null) return now?.url ?? null;
  }
  const page = frontendPage(ctx.env, `/marketplace/purchases/${purchase.id}`);
  const { agent_name: name, price_cents: unit_amount, fee_cents: application_fee_amount, destination } = order;
  const wanted: Stripe.Checkout.SessionCreateParams = {
    mode: "payment",
    line_items: [{ quantity: 1, price_data: { currency: "usd", unit_amount, product_data: { name } } }],
    payment_intent_data: { application_fee_amount, transfer_data: { destination } },
    metadata: { kind: "purchase", purchase_id: purchase.id },
    success_url: `${page}?checkout=success`,
    cancel_url: `${page}?checkout=cancel`,
  };
  const session = await underKey(`purchase-${purchase.id}`, (options) =>
    stripe.checkout.sessions.create(wanted, options),
  );
  return readJson<string>(
    ctx,
    sql`update ${purchases} set checkout_session_id = coalesce(checkout_session_id, ${session.id}),
        checkout_url = coalesce(checkout_url, ${session.url})
      where id = ${purchase.id}::uuid returning to_jsonb(checkout_url) as result`,
  );
}
