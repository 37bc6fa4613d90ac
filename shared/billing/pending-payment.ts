import type Stripe from "stripe";
import type * as z from "zod";
import type { Context } from "../platform/context.ts";
import { billingAccount } from "./customer.ts";
import { isDevMode } from "./mode.ts";
import type { PendingPaymentResponse } from "./schemas.ts";
import { idOf, ifKnown, withProvider } from "./stripe.ts";
import { isLive } from "./subscriptions.ts";

type Pending = z.output<typeof PendingPaymentResponse>;

const NOTHING: Pending = { pending: false, url: null, processing: false, reason: null };

/**
 * Whether the account's subscription waits for a payment, read at the provider: its latest invoice, where both it and the
 * subscription are the account's customer's. Changes nothing. Throws `payment_not_configured`.
 */
export async function pendingPayment(ctx: Context, userId: string): Promise<Pending> {
  if (isDevMode(ctx.env)) return NOTHING;
  return withProvider(ctx, async (stripe) => {
    const { customer_id, subscription_id } = await billingAccount(ctx, userId);
    if (customer_id === null || subscription_id === null) return NOTHING;
    const subscription = await ifKnown(stripe.subscriptions.retrieve(subscription_id));
    const invoiceId = idOf(subscription?.latest_invoice ?? null);
    if (
      subscription === null ||
      idOf(subscription.customer) !== customer_id ||
      !isLive(subscription) ||
      invoiceId === null
    )
      return NOTHING;
    const invoice = await stripe.invoices.retrieve(invoiceId, { expand: ["payments.data.payment.payment_intent"] });
    // Once a renewal is given up, the provider leaves the invoices of further periods as drafts, which nobody can pay.
    const isLeft = subscription.status === "unpaid" && invoice.status === "draft";
    if (idOf(invoice.customer) !== customer_id || !(invoice.status === "open" || isLeft)) return NOTHING;
    const processing = isUnderWay(invoice);
    // Who paid there once more would pay twice.
    const url = processing ? null : (invoice.hosted_invoice_url ?? null);
    return { pending: true, url, processing, reason: reasonOf(invoice) };
  });
}

/** Whether an invoice waits for a bank, which takes days to say whether it was paid. */
function isUnderWay({ payments }: Stripe.Invoice): boolean {
  return (payments?.data ?? []).some(({ payment: { payment_intent: intent } }) => {
    return typeof intent === "object" && intent.status === "processing";
  });
}

// Not by the subscription's status: with a debit it is active before the first payment has arrived.
function reasonOf({ billing_reason: reason }: Stripe.Invoice): Pending["reason"] {
  if (reason === "subscription_update") return "plan_change";
  return reason === "subscription_create" ? "first_payment" : "renewal";
}
