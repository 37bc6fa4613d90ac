import * as z from "zod";
import type { Context } from "../platform/context.ts";
import { cancelSubscriptions } from "./cancel.ts";
import { closePage } from "./close-page.ts";
import { ifKnown, type Payments, withProvider } from "./stripe.ts";

const id = z.string().min(1).max(255);

/** What is to end at the provider: the customer of a closed account, or a payment page at which nobody may pay any more. */
export const ClosingMessage = z.union([
  z.strictObject({ customer_id: id }),
  z.strictObject({ checkout_session_id: id }),
]);

/** Ends at the provider what could still charge somebody. Doing it again changes nothing. */
export function closeAtProvider(ctx: Context, message: z.output<typeof ClosingMessage>): Promise<void> {
  return withProvider(ctx, async (stripe) => {
    if ("customer_id" in message) return endCustomer(stripe, message.customer_id);
    const { isPaid } = await closePage(stripe, message.checkout_session_id);
    if (isPaid) ctx.log.warn("page was paid before it was closed", message);
  });
}

/**
 * Expires a customer's open checkouts, cancels its subscriptions and deletes it, so that nothing new can be opened for it
 * and its address is forgotten; the provider keeps its invoices. Doing it again changes nothing.
 */
export async function endCustomer(stripe: Payments, customerId: string): Promise<void> {
  if (await isGone(stripe, customerId)) return;
  const open = await stripe.checkout.sessions
    .list({ customer: customerId, status: "open", limit: 100 })
    .autoPagingToArray({ limit: 1000 });
  for (const session of open) await closePage(stripe, session.id);
  await cancelSubscriptions(stripe, customerId);
  await stripe.customers.del(customerId).catch(async (error: unknown) => {
    if (!(await isGone(stripe, customerId))) throw error;
  });
}

/** Whether the provider has no such customer, or none any more. */
export async function isGone(stripe: Payments, customerId: string): Promise<boolean> {
  const customer = await ifKnown(stripe.customers.retrieve(customerId));
  return customer === null || customer.deleted === true;
}
