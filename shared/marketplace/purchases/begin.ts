import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../../db/change.ts";
import { purchases } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { notFound, Problem } from "../../platform/problem.ts";
import { onOffer } from "../listings/view.ts";
import { PurchaseRead } from "../shown.ts";
import { purchaseJson } from "./view.ts";

/** What a checkout is made of: nothing in it may change, so that each attempt asks the provider for the same. */
export const Order = z.object({
  /** The connected account that is paid. */
  destination: z.string(),
  agent_name: z.string(),
  price_cents: z.int(),
  fee_cents: z.int(),
});
export type Order = z.output<typeof Order>;

const BegunPurchase = z.object({
  is_new: z.boolean(),
  /** Whether a page was opened for it, be it that nobody can pay there any more; what an older version kept does not tell. */
  has_page: z.boolean().default(false),
  purchase: PurchaseRead,
  order: Order,
});

/** SQL: whether the buyer has paid at the page of the purchase row `p`: what was bought is settled, though it is not yet paid. */
const isUsed = sql`(p.checkout_session_id is not null and p.checkout_url is null)`;

/**
 * Inserts the buyer's purchase of a listing, or finds the one that awaits its payment. Keeps the name, the configuration
 * and the price of this moment; of one that is found the configuration alone, which is what the listing offers now, since
 * the others are on its page. The platform's share is a tenth, rounded half up to the cent. Throws 404, `own_listing`.
 */
export function beginPurchase(
  ctx: Context,
  buyerId: string,
  listingId: string,
): Promise<z.output<typeof BegunPurchase>> {
  const buyer = sql`${buyerId}::uuid`;
  const purchase = verdict({ own_listing: sql`l.seller_id = ${buyer}` });
  return change(ctx, {
    parts: sql`with target as (
      select l.*, a.name, a.declared_configuration, s.account_id, ${purchase.sql} as outcome
      from ${onOffer} and l.id = ${listingId}::uuid
    ), p as (
      insert into ${purchases} as p (listing_id, agent_id, seller_id, buyer_id, agent_name, declared_configuration,
        price_usd, fee_usd)
      select t.id, t.agent_id, t.seller_id, ${buyer}, t.name, t.declared_configuration, t.price_usd,
        round(t.price_usd / 10, 2)
      from target t where t.outcome = 'done'
      on conflict (listing_id, buyer_id) where status = 'AWAITING_PAYMENT' do update
        set declared_configuration = case when ${isUsed} then p.declared_configuration else excluded.declared_configuration end
      returning p.*, old.id is null as is_new
    )`,
    result: sql`select jsonb_build_object('outcome', t.outcome, 'is_new', p.is_new,
        'has_page', p.checkout_session_id is not null, 'purchase', ${purchaseJson},
        'order', jsonb_build_object('destination', t.account_id, 'agent_name', p.agent_name,
          'price_cents', (p.price_usd * 100)::integer, 'fee_cents', (p.fee_usd * 100)::integer)) as result
      from target t left join p on true`,
    verdict: purchase,
    done: BegunPurchase,
    refusals: {
      not_found: () => notFound("listing"),
      own_listing: () => new Problem("own_listing", "This is your own listing; you have its agent."),
    },
  });
}
