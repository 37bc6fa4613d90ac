import type Stripe from "stripe";
import * as z from "zod";
import type { Context } from "../platform/context.ts";
import { cancelSubscriptions } from "./cancel.ts";
import { underKey, withProvider } from "./stripe.ts";

/** The message about the customer of an account that is closed. */
export const CustomerMessage = z.strictObject({ customer_id: z.string().min(1).max(255) });

/** Ends at the provider whatever could still charge the customer of a closed account, and the customer itself. */
export function closeCustomer(ctx: Context, customerId: string): Promise<void> {
  return withProvider(ctx, (stripe) => endCustomer(stripe, customerId));
}

/**
 * Expires a customer's open checkouts, cancels its subscriptions and deletes it, so that nothing new can be opened for it
 * and its address is forgotten; the provider keeps its invoices. Doing it again changes nothing.
 */
export async function endCustomer(stripe: Stripe, customerId: string): Promise<void> {
  if (await isDeleted(stripe, customerId)) return;
  const open = await stripe.checkout.sessions
    .list({ customer: customerId, status: "open", limit: 100 })
    .autoPagingToArray({ limit: 1000 });
  for (const { id } of open)
    await underKey(`expire-${id}`, (options) => stripe.checkout.sessions.expire(id, {}, options));
  await cancelSubscriptions(stripe, customerId);
  await stripe.customers.del(customerId).catch(async (error: unknown) => {
    if (!(await isDeleted(stripe, customerId))) throw error;
  });
}

async function isDeleted(stripe: Stripe, customerId: string): Promise<boolean> {
  return (await stripe.customers.retrieve(customerId)).deleted === true;
}
