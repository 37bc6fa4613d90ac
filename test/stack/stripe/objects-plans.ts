import type Stripe from "stripe";
import { shape } from "./objects.ts";
import { newPayment } from "./objects-payments.ts";
import { idOf, newId, type Store } from "./store.ts";

const DAY_S = 86_400;
const PERIOD_DAYS: Record<string, number> = { day: 1, week: 7, month: 30, year: 365 };

/** An item of a subscription, its period from now on. */
export function newItem(
  store: Store,
  subscription: string,
  price: Stripe.Price,
  quantity = 1,
): Stripe.SubscriptionItem {
  const now = store.now();
  return shape<Stripe.SubscriptionItem>({
    id: newId("si_"),
    object: "subscription_item",
    created: now,
    ...periodOf(price, now),
    discounts: [],
    metadata: {},
    price,
    quantity,
    subscription,
    tax_rates: [],
  });
}

/** The billing period of `price` that starts at `start`. */
export function periodOf(
  price: Stripe.Price,
  start: number,
): { current_period_start: number; current_period_end: number } {
  const days = PERIOD_DAYS[price.recurring?.interval ?? "month"] ?? 30;
  return { current_period_start: start, current_period_end: start + days * DAY_S };
}

/** A subscription of `items`, whose first invoice is not made yet. */
export function newSubscription(
  store: Store,
  customer: string,
  lines: readonly Stripe.LineItem[],
  fields: Partial<Stripe.Subscription>,
): Stripe.Subscription {
  const id = newId("sub_");
  const now = store.now();
  const data = lines.flatMap(({ price, quantity }) =>
    price === null || price.recurring === null ? [] : [newItem(store, id, price, quantity ?? 1)],
  );
  return store.add(
    shape<Stripe.Subscription>({
      id,
      object: "subscription",
      billing_cycle_anchor: now,
      cancel_at: null,
      cancel_at_period_end: false,
      canceled_at: null,
      cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
      collection_method: "charge_automatically",
      created: now,
      currency: data[0]?.price.currency ?? "usd",
      customer,
      default_payment_method: null,
      description: null,
      discounts: [],
      ended_at: null,
      items: { object: "list", data, has_more: false, url: `/v1/subscription_items?subscription=${id}` },
      latest_invoice: null,
      livemode: false,
      metadata: {},
      pause_collection: null,
      pending_setup_intent: null,
      pending_update: null,
      schedule: null,
      start_date: now,
      status: "incomplete",
      trial_end: null,
      trial_start: null,
      ...fields,
    }),
  );
}

/** An invoice of a subscription: paid, or open with a page to pay it on. It becomes the subscription's latest. */
export function newInvoice(
  store: Store,
  subscription: Stripe.Subscription,
  fields: {
    amount: number;
    paid: boolean;
    reason: "subscription_create" | "subscription_update" | "subscription_cycle";
  },
): Stripe.Invoice {
  const id = newId("in_");
  const { amount, paid, reason } = fields;
  const now = store.now();
  subscription.latest_invoice = id;
  return store.add(
    shape<Stripe.Invoice>({
      id,
      object: "invoice",
      amount_due: amount,
      amount_paid: paid ? amount : 0,
      amount_remaining: paid ? 0 : amount,
      attempt_count: 1,
      attempted: true,
      billing_reason: reason,
      collection_method: "charge_automatically",
      created: now,
      currency: subscription.currency,
      customer: subscription.customer,
      hosted_invoice_url: `https://invoice.stripe.com/i/acct_fake/test_${id.slice(3)}`,
      livemode: false,
      metadata: {},
      parent: {
        type: "subscription_details",
        quote_details: null,
        subscription_details: { metadata: subscription.metadata, subscription: subscription.id },
      },
      payments: { object: "list", data: [], has_more: false, url: `/v1/invoice_payments?invoice=${id}` },
      period_end: now,
      period_start: now,
      status: paid ? "paid" : "open",
      status_transitions: {
        finalized_at: now,
        marked_uncollectible_at: null,
        paid_at: paid ? now : null,
        voided_at: null,
      },
      subtotal: amount,
      total: amount,
    }),
  );
}

/** Has an invoice be paid by a bank debit, which is under way until the invoice is closed. */
export function debit(store: Store, invoice: Stripe.Invoice): void {
  const { amount_due: amount, currency, customer } = invoice;
  const terms = { application_fee_amount: null, transfer_data: null, metadata: {}, description: null };
  const intent = newPayment(store, { amount, currency, customer: idOf(customer), ...terms }, false);
  const payment = { type: "payment_intent", payment_intent: intent.id };
  invoice.payments?.data.push(
    shape<Stripe.InvoicePayment>({ id: newId("inpay_"), object: "invoice_payment", invoice: invoice.id, payment }),
  );
}

/** The invoice that a subscription last brought. */
export function latestInvoice(store: Store, { latest_invoice: id }: Stripe.Subscription): Stripe.Invoice {
  return store.get("invoice", idOf(id), "invoice");
}

/** Ends an open invoice, without an event. */
export function closeInvoice(store: Store, invoice: Stripe.Invoice, status: "paid" | "void"): void {
  invoice.status = status;
  invoice.amount_remaining = 0;
  for (const { payment } of invoice.payments?.data ?? [])
    store.get("payment_intent", idOf(payment.payment_intent), "payment_intent").status =
      status === "paid" ? "succeeded" : "requires_payment_method";
  if (status === "paid") invoice.amount_paid = invoice.amount_due;
  invoice.status_transitions[status === "paid" ? "paid_at" : "voided_at"] = store.now();
}
