import type Stripe from "stripe";
import { type Metadata, newCustomer } from "./objects.ts";
import { newDispute, newPayment, newRefund, passOn } from "./objects-payments.ts";
import { closeInvoice, debit, latestInvoice, newInvoice, newSubscription } from "./objects-plans.ts";
import { StripeRefusal } from "./params.ts";
import { idOf, type Store } from "./store.ts";

/** What a session is to make of the payment when its customer comes. */
export interface Order {
  subscription_data?: { metadata?: Metadata | undefined; description?: string | undefined } | undefined;
  payment_intent_data?:
    | {
        application_fee_amount?: number | undefined;
        transfer_data?: { destination: string } | undefined;
        metadata?: Metadata | undefined;
        description?: string | undefined;
      }
    | undefined;
  customer_creation?: string | undefined;
}

const orders = new WeakMap<Stripe.Checkout.Session, Order>();

/** Keeps with the session what it is to make. */
export function place(session: Stripe.Checkout.Session, order: Order): Stripe.Checkout.Session {
  orders.set(session, order);
  return session;
}

/** The customer fills the page in and pays, at once or by a method that is settled later. */
export function pay(store: Store, session: Stripe.Checkout.Session, later: boolean): void {
  if (session.status !== "open") throw new Error(`nobody can pay a session that is ${session.status}`);
  const order = orders.get(session) ?? {};
  const total = session.amount_total ?? 0;
  const done = !later || total === 0;
  const email = session.customer_email ?? store.find("customer", idOf(session.customer))?.email ?? "buyer@example.test";
  if (session.customer === null && (session.mode === "subscription" || order.customer_creation === "always")) {
    session.customer = newCustomer(store, { email }).id;
    store.emit("customer.created", store.get("customer", session.customer, "customer"));
  }
  session.status = "complete";
  session.payment_status = total === 0 ? "no_payment_required" : done ? "paid" : "unpaid";
  session.url = null;
  session.customer_details = { email } as Stripe.Checkout.Session.CustomerDetails;
  if (session.mode === "subscription") subscribe(store, session, order, done);
  else charge(store, session, order, done);
}

function subscribe(
  store: Store,
  session: Stripe.Checkout.Session,
  { subscription_data: data }: Order,
  done: boolean,
): void {
  const subscription = newSubscription(store, idOf(session.customer), session.line_items?.data ?? [], {
    metadata: data?.metadata ?? {},
    description: data?.description ?? null,
  });
  const amount = session.amount_total ?? 0;
  session.subscription = subscription.id;
  const invoice = newInvoice(store, subscription, { amount, paid: done, reason: "subscription_create" });
  if (!done) debit(store, invoice);
  session.invoice = invoice.id;
  store.emit("checkout.session.completed", session);
  store.emit("customer.subscription.created", subscription);
  if (done) activate(store, subscription);
}

function activate(store: Store, subscription: Stripe.Subscription): void {
  const { status } = subscription;
  subscription.status = "active";
  store.emit("customer.subscription.updated", subscription, { status });
  store.emit("invoice.paid", latestInvoice(store, subscription));
}

function charge(
  store: Store,
  session: Stripe.Checkout.Session,
  { payment_intent_data: data }: Order,
  done: boolean,
): void {
  const amount = session.amount_total ?? 0;
  if (amount > 0) {
    const intent = newPayment(
      store,
      {
        amount,
        currency: session.currency ?? "usd",
        customer: session.customer,
        application_fee_amount: data?.application_fee_amount ?? null,
        transfer_data: data?.transfer_data ?? null,
        metadata: data?.metadata ?? {},
        description: data?.description ?? null,
      },
      done,
    );
    session.payment_intent = intent.id;
    store.emit(done ? "charge.succeeded" : "charge.pending", chargeOf(store, intent));
    store.emit(done ? "payment_intent.succeeded" : "payment_intent.processing", intent);
  }
  store.emit("checkout.session.completed", session);
}

/** The charge that the payment was last tried with. */
function chargeOf(store: Store, intent: Stripe.PaymentIntent): Stripe.Charge {
  return store.get("charge", idOf(intent.latest_charge), "charge");
}

/** The bank says what became of a payment that was to be settled later. */
export function settle(store: Store, session: Stripe.Checkout.Session, paid: boolean): void {
  const intent = store.find("payment_intent", idOf(session.payment_intent));
  const subscription = store.find("subscription", idOf(session.subscription));
  // A debit that is under way can't be called back: it goes on where its subscription was canceled meanwhile.
  const isPending =
    intent?.status === "processing" ||
    (subscription !== undefined && latestInvoice(store, subscription).status === "open");
  if (session.status !== "complete" || session.payment_status !== "unpaid" || !isPending)
    throw new Error("no payment of this session is under way");
  if (intent !== undefined) settleIntent(store, intent, paid);
  if (paid) session.payment_status = "paid";
  store.emit(paid ? "checkout.session.async_payment_succeeded" : "checkout.session.async_payment_failed", session);
  if (subscription !== undefined) settleSubscription(store, subscription, paid);
}

function settleIntent(store: Store, intent: Stripe.PaymentIntent, paid: boolean): void {
  const attempt = chargeOf(store, intent);
  attempt.paid = paid;
  attempt.status = paid ? "succeeded" : "failed";
  if (paid) {
    attempt.amount_captured = attempt.amount;
    passOn(store, attempt);
    intent.amount_received = intent.amount;
    intent.status = "succeeded";
  } else {
    attempt.failure_code = "payment_method_provider_decline";
    attempt.failure_message = "The bank refused the payment.";
    intent.status = "requires_payment_method";
    intent.last_payment_error = {
      type: "card_error",
      code: "payment_method_provider_decline",
      message: attempt.failure_message,
    };
  }
  store.emit(paid ? "charge.succeeded" : "charge.failed", attempt);
  store.emit(paid ? "payment_intent.succeeded" : "payment_intent.payment_failed", intent);
}

function settleSubscription(store: Store, subscription: Stripe.Subscription, paid: boolean): void {
  const invoice = latestInvoice(store, subscription);
  closeInvoice(store, invoice, paid ? "paid" : "void");
  if (subscription.status === "canceled") {
    store.emit(paid ? "invoice.paid" : "invoice.voided", invoice);
  } else if (paid) {
    activate(store, subscription);
  } else {
    subscription.status = "incomplete_expired";
    subscription.ended_at = store.now();
    store.emit("invoice.voided", invoice);
    store.emit("customer.subscription.updated", subscription, { status: "incomplete" });
  }
}

/** Ends an open session. @throws the refusal of one that is not open. */
export function expire(store: Store, session: Stripe.Checkout.Session): void {
  if (session.status !== "open") {
    throw new StripeRefusal(400, {
      message: `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${session.status}.`,
    });
  }
  session.status = "expired";
  session.url = null;
  store.emit("checkout.session.expired", session);
}

/** Ends the open sessions whose time is over. */
export function expireDue(store: Store): void {
  for (const session of store.all("checkout.session").toReversed()) {
    if (session.status === "open" && session.expires_at <= store.now()) expire(store, session);
  }
}

/** What a refund takes along: that part of the connected account's transfer, and of the platform's fee. */
export interface Along {
  reverse_transfer?: boolean;
  refund_application_fee?: boolean;
}

/** Gives back `amount` of a payment, else all that is left. @throws the refusal of more than that. */
export function refund(
  store: Store,
  intent: Stripe.PaymentIntent,
  {
    amount: asked,
    reverse_transfer: takesBack = false,
    refund_application_fee: givesFee = false,
    ...fields
  }: { amount?: number; reason?: Stripe.Refund.Reason; metadata?: Metadata } & Along,
): Stripe.Refund {
  const paid = chargeOf(store, intent);
  if (paid.refunded)
    throw new StripeRefusal(400, {
      code: "charge_already_refunded",
      message: `Charge ${paid.id} has already been refunded.`,
    });
  const left = paid.amount_captured - paid.amount_refunded;
  const amount = asked ?? left;
  if (amount > left || amount < 1) {
    const message = `Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`;
    throw new StripeRefusal(400, { param: "amount", message });
  }
  const before = { amount_refunded: paid.amount_refunded, refunded: paid.refunded };
  paid.amount_refunded += amount;
  paid.refunded = paid.amount_refunded === paid.amount;
  const made = newRefund(store, paid, { amount, ...fields });
  paid.refunds?.data.unshift(made);
  store.emit("charge.refunded", paid, before);
  store.emit("refund.created", made);
  if (takesBack) reverse(store, intent, amount);
  if (givesFee && paid.application_fee !== null)
    refundFee(store, intent, Math.round(((paid.application_fee_amount ?? 0) * amount) / paid.amount));
  return made;
}

/** The platform gives back so much of what it kept of a payment. */
export function refundFee(store: Store, intent: Stripe.PaymentIntent, amount: number): void {
  const fee = store.get("application_fee", idOf(chargeOf(store, intent).application_fee), "application_fee");
  fee.amount_refunded += amount;
  fee.refunded = fee.amount_refunded === fee.amount;
  store.emit("application_fee.refunded", fee);
}

/** The platform takes back what it passed on of a payment. */
export function reverse(store: Store, intent: Stripe.PaymentIntent, amount: number): void {
  const transfer = store.get("transfer", idOf(chargeOf(store, intent).transfer), "transfer");
  transfer.amount_reversed += amount;
  store.emit("transfer.reversed", transfer);
}

/** The bank does not take a refund, or somebody calls it off, and the money comes back. */
export function loseRefund(store: Store, intent: Stripe.PaymentIntent, status: "failed" | "canceled"): void {
  const paid = chargeOf(store, intent);
  const failed = paid.refunds?.data.find((one) => one.status === "succeeded");
  if (failed === undefined) throw new Error("nothing was refunded");
  failed.status = status;
  paid.amount_refunded -= failed.amount;
  paid.refunded = false;
  store.emit("refund.updated", failed);
  if (status === "failed") store.emit("refund.failed", failed);
}

/** The bank decides a dispute of the payment. */
export function dispute(store: Store, intent: Stripe.PaymentIntent, status: "lost" | "won", amount?: number): void {
  const disputed = chargeOf(store, intent);
  disputed.disputed = true;
  store.emit("charge.dispute.closed", newDispute(store, disputed, { status, amount: amount ?? disputed.amount }));
}

/** A payment of a customer for what a subscription costs. */
export function renewal(store: Store, customer: string): Stripe.PaymentIntent {
  const terms = { application_fee_amount: null, transfer_data: null, metadata: {}, description: null };
  return newPayment(store, { amount: 2900, currency: "usd", customer, ...terms }, true);
}
