import { sql } from "drizzle-orm";
import * as z from "zod";
import { requireBilling } from "../../billing/mode.ts";
import { ifKnown, type Payments, withProvider } from "../../billing/stripe.ts";
import { read } from "../../db/change.ts";
import { purchases } from "../../db/schema/index.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import type { PurchaseRead } from "../shown.ts";
import { beginPurchase } from "./begin.ts";
import { openCheckout } from "./checkout.ts";
import { failPurchase, leavePage } from "./settle.ts";

/**
 * Begins the purchase of a listing, or returns the caller's open purchase of it, without a page once that was used; `isNew`
 * says which. The row comes first and its id is the key of its checkout: whatever is lost between the two, the next call finds
 * the row and completes it with the checkout. Throws `billing_disabled`, `payment_not_configured`, 404, `own_listing`,
 * `seller_not_ready`.
 */
export async function createPurchase(
  ctx: Context,
  { userId }: SessionPrincipal,
  listingId: string,
): Promise<{ purchase: z.output<typeof PurchaseRead>; isNew: boolean }> {
  requireBilling(ctx.env);
  return withProvider(ctx, async (stripe) => {
    await endUsed(ctx, stripe, userId, listingId);
    const { is_new: isNew, has_page, purchase, order } = await beginPurchase(ctx, userId, listingId);
    const checkout_url = has_page ? purchase.checkout_url : await openCheckout(ctx, stripe, purchase.id, order);
    return { purchase: { ...purchase, checkout_url }, isNew };
  });
}

const OpenPurchase = z.object({ id: z.uuid(), session: z.string() });

/**
 * Ends the caller's open purchase where the provider no longer knows its checkout, or where the checkout has expired, and
 * the page of one that was paid: where the event that says so is still to come.
 */
async function endUsed(ctx: Context, stripe: Payments, buyerId: string, listingId: string): Promise<void> {
  const open = await read(
    ctx,
    OpenPurchase,
    sql`select jsonb_build_object('id', p.id, 'session', p.checkout_session_id) as result from ${purchases} p
      where p.listing_id = ${listingId}::uuid and p.buyer_id = ${buyerId}::uuid and p.status = 'AWAITING_PAYMENT'
        and p.checkout_session_id is not null`,
  );
  if (open === null) return;
  const session = await ifKnown(stripe.checkout.sessions.retrieve(open.session));
  if (session === null || session.status === "expired") await failPurchase(ctx, open.id, open.session);
  if (session?.status === "complete") await leavePage(ctx, open.id, open.session);
}
