import type Stripe from "stripe";
import { changedItems, costOf, isInvoiced, type ItemChange } from "./items.ts";
import type { Metadata } from "./objects.ts";
import { closeInvoice, latestInvoice, newInvoice } from "./objects-plans.ts";
import { StripeRefusal } from "./params.ts";
import { idOf, type Store } from "./store.ts";

/** How the customer's bank meets the next payment that the API asks for. */
export interface Mood {
  declines: boolean;
  demands: boolean;
  /** The next POST breaks down in the provider, which keeps that answer under its key. */
  breaks: boolean;
}

interface Terms {
  metadata?: Metadata | undefined;
  cancel_at?: number | null | undefined;
  cancel_at_period_end?: boolean | undefined;
  description?: string | undefined;
}

/** What a call may change of a subscription. */
export interface SubscriptionUpdate extends Terms {
  items?: readonly ItemChange[] | undefined;
  payment_behavior?: string | undefined;
  proration_behavior?: string | undefined;
}

const PENDING_S = 23 * 3600;

/** Whether the subscription is over for good. */
export function isOver({ status }: Stripe.Subscription): boolean {
  return status === "canceled" || status === "incomplete_expired";
}

/**
 * Changes a subscription as the API does. What is invoiced at once may have to wait for its payment
 * (https://docs.stripe.com/billing/subscriptions/pending-updates); new items end what waited. @throws the refusal.
 */
export function update(store: Store, subscription: Stripe.Subscription, change: SubscriptionUpdate, mood: Mood): void {
  const { items, payment_behavior: behaviour = "allow_incomplete", proration_behavior: proration, ...terms } = change;
  checkTerms(subscription, change);
  const next = items === undefined ? subscription.items.data : changedItems(store, subscription, items);
  const invoiced = isInvoiced(subscription.items.data, next, proration);
  const unpaid = invoiced ? meet(mood, behaviour) : null;
  if (subscription.pending_update !== null && (items !== undefined || contradicts(subscription.pending_update, terms)))
    endPending(store, subscription, "expired");
  const before = structuredClone(subscription);
  if (invoiced)
    newInvoice(store, subscription, { amount: costOf(next), paid: unpaid === null, reason: "subscription_update" });
  if (unpaid !== null && behaviour === "pending_if_incomplete") {
    subscription.pending_update = {
      billing_cycle_anchor: null,
      cancel_at_period_end: terms.cancel_at_period_end ?? null,
      discount: null,
      discounts: null,
      expires_at: store.now() + PENDING_S,
      metadata: terms.metadata ?? null,
      subscription_items: next,
      trial_end: null,
      trial_from_plan: null,
    };
  } else {
    if (unpaid !== null) subscription.status = "past_due";
    subscription.items.data = next;
    agree(store, subscription, terms);
  }
  announce(store, subscription, before);
  if (invoiced) store.emit(unpaid ?? "invoice.paid", latestInvoice(store, subscription));
}

// https://docs.stripe.com/changelog/endive/2026-09-30/scheduled-subscription-cancellation
function contradicts(
  { cancel_at_period_end: waits }: Stripe.Subscription.PendingUpdate,
  { cancel_at_period_end: asked }: Terms,
): boolean {
  return waits !== null && asked !== undefined && waits !== asked;
}

function checkTerms(
  subscription: Stripe.Subscription,
  { payment_behavior: behaviour, ...rest }: SubscriptionUpdate,
): void {
  if (isOver(subscription) && Object.keys(rest).some((name) => name !== "metadata")) {
    const message = "A canceled subscription can only update its cancellation_details and metadata.";
    throw new StripeRefusal(400, { message });
  }
  if (rest.cancel_at !== undefined && rest.cancel_at_period_end !== undefined) {
    const message = "You may pass either cancel_at or cancel_at_period_end.";
    throw new StripeRefusal(400, { param: "cancel_at", message }, true);
  }
  // https://docs.stripe.com/billing/subscriptions/pending-updates has what a pending update supports.
  const unsupported = (["description", "cancel_at"] as const).find((name) => rest[name] !== undefined);
  if (behaviour === "pending_if_incomplete" && unsupported !== undefined) {
    const message = `With payment_behavior pending_if_incomplete you may not pass ${unsupported}.`;
    throw new StripeRefusal(400, { param: unsupported, message }, true);
  }
}

// The bank's mood lasts for one payment. Gives the event of an invoice that is not paid: unless the call asks for an error,
// it is no error, whether the card is declined or its holder is to confirm.
function meet(mood: Mood, behaviour: string): "invoice.payment_failed" | "invoice.payment_action_required" | null {
  const { declines, demands } = mood;
  if (declines) mood.declines = false;
  else mood.demands = false;
  if (behaviour === "error_if_incomplete") {
    if (declines) throw cardError("card_declined", "Your card was declined.");
    const message = "Payment for this subscription requires additional user action before it can be completed.";
    if (demands) throw cardError("subscription_payment_intent_requires_action", message);
  }
  return declines ? "invoice.payment_failed" : demands ? "invoice.payment_action_required" : null;
}

function cardError(code: string, message: string): StripeRefusal {
  return new StripeRefusal(402, { type: "card_error", code, decline_code: "generic_decline", message });
}

function agree(store: Store, subscription: Stripe.Subscription, { metadata, description, ...terms }: Terms): void {
  if (metadata !== undefined) subscription.metadata = merged(subscription.metadata, metadata);
  if (description !== undefined) subscription.description = description;
  scheduleEnd(store, subscription, terms);
}

// The documentation does not say that taking back the one takes back an end that the other set: here it does not.
function scheduleEnd(
  store: Store,
  subscription: Stripe.Subscription,
  { cancel_at: at, cancel_at_period_end: ends }: Terms,
): void {
  const isAtPeriodEnd = subscription.cancel_at_period_end;
  if (ends !== undefined && (ends || isAtPeriodEnd)) {
    subscription.cancel_at_period_end = ends;
    subscription.cancel_at = ends ? periodEnd(subscription) : null;
  } else if (at !== undefined && (at !== null || !isAtPeriodEnd)) {
    subscription.cancel_at_period_end = false;
    subscription.cancel_at = at;
  } else return;
  subscription.canceled_at = subscription.cancel_at === null ? null : store.now();
}

function periodEnd({ items }: Stripe.Subscription): number {
  return Math.max(...items.data.map(({ current_period_end }) => current_period_end));
}

/** Metadata after a call: given names are set, empty ones removed; nothing given removes all. */
export function merged(present: Metadata, change: Metadata): Metadata {
  if (Object.keys(change).length === 0) return {};
  return Object.fromEntries(Object.entries({ ...present, ...change }).filter(([, value]) => value !== ""));
}

function announce(store: Store, subscription: Stripe.Subscription, before: Stripe.Subscription): void {
  const now = new Map(Object.entries(subscription));
  const changed = Object.entries(before).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(now.get(name)),
  );
  if (changed.length > 0) store.emit("customer.subscription.updated", subscription, Object.fromEntries(changed));
}

/** Ends a subscription at once, and what waited for a payment. */
export function cancel(store: Store, subscription: Stripe.Subscription): void {
  if (subscription.pending_update !== null) endPending(store, subscription, "expired");
  subscription.status = "canceled";
  subscription.canceled_at = store.now();
  subscription.ended_at = store.now();
  subscription.cancellation_details = {
    comment: null,
    feedback: null,
    feedback_option: null,
    reason: "cancellation_requested",
  };
  store.emit("customer.subscription.deleted", subscription);
}

/** The payment that a change waits for comes, or its time is over. */
export function endPending(store: Store, subscription: Stripe.Subscription, outcome: "applied" | "expired"): void {
  const { pending_update: pending } = subscription;
  if (pending === null) throw new Error("no update of this subscription is pending");
  const before = structuredClone(subscription);
  const invoice = latestInvoice(store, subscription);
  closeInvoice(store, invoice, outcome === "applied" ? "paid" : "void");
  store.emit(outcome === "applied" ? "invoice.paid" : "invoice.voided", invoice);
  subscription.pending_update = null;
  if (outcome === "applied") {
    subscription.items.data = pending.subscription_items ?? subscription.items.data;
    agree(store, subscription, {
      metadata: pending.metadata ?? undefined,
      cancel_at_period_end: pending.cancel_at_period_end ?? undefined,
    });
  }
  store.emit(`customer.subscription.pending_update_${outcome}`, subscription);
  announce(store, subscription, before);
}

/** Ends the updates whose payment did not come in time. */
export function expirePending(store: Store): void {
  for (const subscription of store.all("subscription").toReversed()) {
    const { pending_update: pending } = subscription;
    if (pending !== null && pending.expires_at <= store.now()) endPending(store, subscription, "expired");
  }
}

/** Voids an open invoice, and so gives up the change that waits for its payment. @throws the refusal. */
export function voidInvoice(store: Store, invoice: Stripe.Invoice): void {
  if (invoice.status !== "open")
    throw new StripeRefusal(400, { message: `You can only void an open invoice; this one is ${invoice.status}.` });
  const waiting = store
    .all("subscription")
    .find((one) => one.pending_update !== null && idOf(one.latest_invoice) === invoice.id);
  if (waiting !== undefined) return endPending(store, waiting, "expired");
  closeInvoice(store, invoice, "void");
  store.emit("invoice.voided", invoice);
}

/** Somebody has a subscription end with its period: the customer in the portal, or the operator in the dashboard. */
export function endLater(store: Store, subscription: Stripe.Subscription, where: "portal" | "dashboard"): void {
  const before = structuredClone(subscription);
  // What each of them writes: https://docs.stripe.com/billing/subscriptions/billing-mode/compare
  scheduleEnd(
    store,
    subscription,
    where === "portal" ? { cancel_at: periodEnd(subscription) } : { cancel_at_period_end: true },
  );
  announce(store, subscription, before);
}

/**
 * The next period begins of a subscription that is unpaid: its invoice stays a draft, for which nobody is asked
 * (https://docs.stripe.com/billing/subscriptions/overview#unpaid-subscriptions).
 */
export function beginUnpaidPeriod(store: Store, subscription: Stripe.Subscription): void {
  const before = structuredClone(subscription);
  const amount = costOf(subscription.items.data);
  const invoice = newInvoice(store, subscription, { amount, paid: false, reason: "subscription_cycle" });
  Object.assign(invoice, { status: "draft", hosted_invoice_url: null, attempted: false, attempt_count: 0 });
  invoice.status_transitions.finalized_at = null;
  store.emit("invoice.created", invoice);
  announce(store, subscription, before);
}

/** The customer changes the plan in the portal, or the provider the status. */
export function turn(store: Store, subscription: Stripe.Subscription, to: { status?: string; price?: string }): void {
  const { status, price } = to;
  if (price !== undefined) {
    const items = [{ id: subscription.items.data[0]?.id, price }];
    const calm: Mood = { declines: false, demands: false, breaks: false };
    update(store, subscription, { items, proration_behavior: "always_invoice" }, calm);
  }
  if (status === undefined) return;
  const before = structuredClone(subscription);
  subscription.status = status;
  announce(store, subscription, before);
}
