import { Stripe } from "stripe";
import { createFaults, type Faults } from "../faults.ts";
import { listen } from "../http.ts";
import { type StripeFake, startStripe } from "./stripe.ts";
import { idOf } from "./store.ts";

/** The fake with the SDK's client of it, a clock that stands until it is moved, and a webhook that checks signatures. */
export interface StripeHarness {
  readonly fake: StripeFake;
  readonly stripe: Stripe;
  readonly faults: Faults;
  /** The provider's clock, in milliseconds. */
  readonly clock: { now: number };
  setting(name: string): string;
  /** An open session of a new customer, or the given one, for a plan. */
  buyPlan(customer?: string): Promise<Stripe.Checkout.Session>;
  /** An open session for two things at ten dollars. */
  buyOnce(more?: Partial<Stripe.Checkout.SessionCreateParams>): Promise<Stripe.Checkout.Session>;
  /** A new customer's subscription, paid by the month. */
  subscribed(): Promise<{ customer: string; subscription: Stripe.Subscription; item: string }>;
  stop(): Promise<void>;
}

/** Starts the harness, at noon of a day. */
export async function startStripeHarness(): Promise<StripeHarness> {
  const faults = createFaults();
  const clock = { now: Date.UTC(2026, 10, 21, 12) };
  const webhook = await listen(async ({ headers, body }) => {
    const signature = String(headers["stripe-signature"]);
    const crypto = Stripe.createSubtleCryptoProvider();
    try {
      const { id } = await stripe.webhooks.constructEventAsync(
        body.toString(),
        signature,
        setting("STRIPE_WEBHOOK_SECRET"),
        300,
        crypto,
        clock.now,
      );
      return { status: 200, body: JSON.stringify({ id }) };
    } catch (error) {
      return { status: 400, body: JSON.stringify({ error: (error as Error).constructor.name }) };
    }
  });
  const fake = await startStripe({ faults, now: () => clock.now, webhookUrl: () => webhook.url });
  const setting = (name: string): string => fake.settings[name] ?? "";
  const { hostname: host, port } = new URL(fake.url);
  const stripe = new Stripe(setting("STRIPE_SECRET_KEY"), {
    host,
    port,
    protocol: "http",
    httpClient: Stripe.createFetchHttpClient(),
    maxNetworkRetries: 0,
  });
  const success_url = "https://app.example.test/done?session={CHECKOUT_SESSION_ID}";
  const harness: StripeHarness = {
    fake,
    stripe,
    faults,
    clock,
    setting,
    async buyPlan(customer) {
      return stripe.checkout.sessions.create({
        mode: "subscription",
        customer: customer ?? (await stripe.customers.create()).id,
        line_items: [{ price: setting("STRIPE_PRICE_PRO_MONTHLY"), quantity: 1 }],
        success_url,
        metadata: { kind: "subscription" },
        subscription_data: { metadata: { origin: "checkout" } },
      });
    },
    buyOnce(more = {}) {
      const price_data = { currency: "usd", unit_amount: 1000, product_data: { name: "An agent" } };
      const line_items = [{ price_data, quantity: 2 }];
      return stripe.checkout.sessions.create({ mode: "payment", line_items, success_url, ...more });
    },
    async subscribed() {
      const session = await harness.buyPlan();
      fake.pay(session.id);
      const customer = idOf(session.customer);
      const [subscription] = fake.subscriptions(customer);
      if (subscription === undefined) throw new Error("paying made no subscription");
      return { customer, subscription, item: subscription.items.data[0]?.id ?? "" };
    },
    async stop() {
      await fake.close();
      await webhook.close();
    },
  };
  return harness;
}
