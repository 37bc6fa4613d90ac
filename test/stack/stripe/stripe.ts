import { Stripe } from "stripe";
import type { Faults } from "../faults.ts";
import { listen } from "../http.ts";
import type { Settings } from "../settings.ts";
import { type Asked, catchUp, stripeApi } from "./api.ts";
import {
  type Along,
  dispute,
  expire,
  loseRefund,
  pay,
  refund,
  refundFee,
  renewal,
  reverse,
  settle,
} from "./checkout.ts";
import { newPrice, newProduct } from "./objects.ts";
import { createStore, type Store } from "./store.ts";
import { beginUnpaidPeriod, cancel, endLater, endPending, type Mood, turn } from "./subscriptions.ts";

/** How an event is posted, where not as the provider does. */
export interface Delivery {
  /** The secret that signs; else the right one. */
  secret?: string;
  /** When it was signed, in seconds; else now. */
  timestamp?: number;
  /** The body that is signed and sent; else the event. */
  body?: string;
  /** The `Stripe-Signature` header as it stands, null for none; else one over the body. */
  signature?: string | null;
}

/** The payment provider, with its customers' hands. Doings return the events that they cause; none is delivered by itself. */
export interface StripeFake {
  readonly url: string;
  /** STRIPE_API_BASE, STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET and the five STRIPE_PRICE_*. */
  readonly settings: Settings;
  /** Every call so far. */
  readonly requests: readonly Asked[];
  /** The calls that named a route, a parameter or an object that there is not: none of a correct service. */
  readonly refused: string[];
  /** Every event so far, in the order in which they came to be. */
  readonly events: readonly Stripe.Event[];
  /** The customer completes an open session; with `later`, by a method whose payment is settled later. */
  pay(sessionId: string, options?: { later?: boolean }): Stripe.Event[];
  /** A payment that was to be settled later succeeds or fails. */
  settleLater(sessionId: string, paid: boolean): Stripe.Event[];
  /** The time of an open session is over. */
  expire(sessionId: string): Stripe.Event[];
  /** The customer (in the portal) or the provider changes a subscription: one change at a time. */
  changeSubscription(
    subscriptionId: string,
    change: {
      status?: string;
      price?: string;
      cancel?: boolean;
      /** It ends with its period; each place writes that in its own way. */
      endLater?: "portal" | "dashboard";
      pendingUpdate?: "applied" | "expired";
    },
  ): Stripe.Event[];
  /** The next period begins of a subscription whose renewal was given up: its invoice stays a draft. */
  beginUnpaidPeriod(subscriptionId: string): Stripe.Event[];
  /** The next change of a plan that is invoiced waits for the customer to confirm its payment. */
  demandPayment(): void;
  /** The card is declined at the next change of a plan that is invoiced: 402 only where that is asked for. */
  declineCard(): void;
  /** The next POST is begun and ends in 500, which is what its key then gives. */
  breakDown(): void;
  /** The seller has filled in the onboarding form, so far. */
  onboard(accountId: string, flags: { charges_enabled: boolean; payouts_enabled: boolean }): Stripe.Event[];
  /** The account of a seller is no longer connected: its events and itself are out of the platform's sight. */
  deauthorise(accountId: string): Stripe.Event[];
  /** Somebody refunds a payment in the provider's dashboard: in full unless an amount is given. */
  refund(paymentIntentId: string, amount?: number, along?: Along): Stripe.Event[];
  /** The bank does not take the last refund of a payment. */
  failRefund(paymentIntentId: string): Stripe.Event[];
  /** Somebody calls off the last refund of a payment. */
  cancelRefund(paymentIntentId: string): Stripe.Event[];
  /** Somebody takes back there what a connected account got of a payment. */
  reverse(paymentIntentId: string, amount: number): Stripe.Event[];
  /** Somebody gives back there what the platform kept of a payment. */
  refundFee(paymentIntentId: string, amount: number): Stripe.Event[];
  /** A payer's bank decides a dispute: of this payment or a part of it, or of one that a customer's subscription took. */
  dispute(
    payment: { paymentIntent: string; amount?: number } | { customer: string },
    status: "lost" | "won",
  ): Stripe.Event[];
  /** All subscriptions of a customer, the newest first. */
  subscriptions(customerId: string): Stripe.Subscription[];
  /** All customers, the newest first, without deleted ones. */
  customers(): Stripe.Customer[];
  /** Posts an event to the service's webhook, signed. */
  // Tests name the shape they expect.
  // oxlint-disable-next-line typescript/no-explicit-any
  deliver(event: Stripe.Event, options?: Delivery): Promise<{ status: number; body: any }>;
  close(): Promise<void>;
}

/** What each price setting costs, in cents, and how often. */
const PRICES = {
  STRIPE_PRICE_PRO_MONTHLY: { unit_amount: 2900, interval: "month" },
  STRIPE_PRICE_PRO_YEARLY: { unit_amount: 29_000, interval: "year" },
  STRIPE_PRICE_TEAM_MONTHLY: { unit_amount: 9900, interval: "month" },
  STRIPE_PRICE_TEAM_YEARLY: { unit_amount: 99_000, interval: "year" },
  STRIPE_PRICE_CERTIFICATION: { unit_amount: 3900, interval: undefined },
};

const KEY = "sk_test_fake";
const SECRET = "whsec_fake";

/**
 * Starts a payment provider that speaks Stripe's API at the version of the SDK (https://docs.stripe.com/api). `now` is
 * its clock in milliseconds, else the machine's; faults of the service "provider" apply to its API.
 */
export async function startStripe(options: {
  faults: Faults;
  webhookUrl: () => string;
  now?: () => number;
}): Promise<StripeFake> {
  const store = createStore(options.now ?? Date.now);
  const mood: Mood = { declines: false, demands: false, breaks: false };
  const requests: Asked[] = [];
  const refused: string[] = [];
  const { url, close } = await listen(stripeApi({ store, mood, key: KEY, faults: options.faults, requests, refused }));
  const prices = Object.entries(PRICES).map(([name, price]) => {
    const { id: product } = newProduct(store, { name });
    return [name, newPrice(store, { currency: "usd", product, ...price }).id] as const;
  });
  const { webhooks } = new Stripe(KEY);
  const events = (): Stripe.Event[] => store.all("event").toReversed();

  function causing(work: () => void): Stripe.Event[] {
    catchUp(store);
    const before = events().length;
    work();
    return structuredClone(events().slice(before));
  }

  return {
    url,
    settings: {
      STRIPE_API_BASE: url,
      STRIPE_SECRET_KEY: KEY,
      STRIPE_WEBHOOK_SECRET: SECRET,
      ...Object.fromEntries(prices),
    },
    requests,
    refused,
    get events() {
      return events();
    },
    pay: (id, { later = false } = {}) => causing(() => pay(store, there(store, "checkout.session", id), later)),
    settleLater: (id, paid) => causing(() => settle(store, there(store, "checkout.session", id), paid)),
    expire: (id) => causing(() => expire(store, there(store, "checkout.session", id))),
    changeSubscription: (id, { cancel: ends = false, endLater: where, pendingUpdate, ...rest }) =>
      causing(() => {
        const subscription = there(store, "subscription", id);
        if (ends || rest.status === "canceled") cancel(store, subscription);
        else if (where !== undefined) endLater(store, subscription, where);
        else if (pendingUpdate !== undefined) endPending(store, subscription, pendingUpdate);
        else turn(store, subscription, rest);
      }),
    beginUnpaidPeriod: (id) => causing(() => beginUnpaidPeriod(store, there(store, "subscription", id))),
    demandPayment: () => void (mood.demands = true),
    declineCard: () => void (mood.declines = true),
    breakDown: () => void (mood.breaks = true),
    onboard: (id, flags) =>
      causing(() => {
        const account = there(store, "account", id);
        const state = flags.charges_enabled ? "active" : "inactive";
        Object.assign(account, flags, { details_submitted: true });
        account.capabilities = Object.fromEntries(Object.keys(account.capabilities ?? {}).map((name) => [name, state]));
        store.emit("account.updated", account);
      }),
    deauthorise: (id) =>
      causing(() => {
        there(store, "account", id);
        store.disconnect(id);
      }),
    refund: (id, amount, along = {}) =>
      causing(() =>
        refund(store, there(store, "payment_intent", id), { ...along, ...(amount === undefined ? {} : { amount }) }),
      ),
    failRefund: (id) => causing(() => loseRefund(store, there(store, "payment_intent", id), "failed")),
    cancelRefund: (id) => causing(() => loseRefund(store, there(store, "payment_intent", id), "canceled")),
    reverse: (id, amount) => causing(() => reverse(store, there(store, "payment_intent", id), amount)),
    refundFee: (id, amount) => causing(() => refundFee(store, there(store, "payment_intent", id), amount)),
    dispute: (payment, status) =>
      causing(() => {
        const isPlan = "customer" in payment;
        const intent = isPlan
          ? renewal(store, payment.customer)
          : there(store, "payment_intent", payment.paymentIntent);
        dispute(store, intent, status, isPlan ? undefined : payment.amount);
      }),
    subscriptions: (customer) => structuredClone(store.all("subscription").filter((one) => one.customer === customer)),
    customers: () => structuredClone(store.all("customer").filter((one) => !("deleted" in one))),
    async deliver(event, { secret = SECRET, timestamp = store.now(), body, signature } = {}) {
      const payload = body ?? JSON.stringify(event, null, 2);
      const header =
        signature === undefined ? webhooks.generateTestHeaderString({ payload, secret, timestamp }) : signature;
      const response = await fetch(options.webhookUrl(), {
        method: "POST",
        headers: {
          "content-type": "application/json; charset=utf-8",
          ...(header === null ? {} : { "stripe-signature": header }),
        },
        body: payload,
      });
      const known = store.find("event", event.id);
      if (response.ok && known !== undefined) known.pending_webhooks = 0;
      return { status: response.status, body: await response.json() };
    },
    close,
  };
}

function there<K extends Parameters<Store["find"]>[0]>(store: Store, kind: K, id: string) {
  const object = store.find(kind, id);
  if (object === undefined) throw new Error(`the provider has no ${kind} ${id}`);
  return object;
}
