import type { Stripe } from "stripe";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type StripeHarness, startStripeHarness } from "../../stack/stripe/harness.ts";
import type { StripeFake } from "../../stack/stripe/stripe.ts";

let harness: StripeHarness;
let fake: StripeFake;
let stripe: Stripe;
beforeAll(async () => {
  harness = await startStripeHarness();
  ({ fake, stripe } = harness);
});
afterAll(() => harness.stop());

const seconds = (): number => harness.clock.now / 1000;
const typesOf = (events: readonly Stripe.Event[]): string[] => events.map(({ type }) => type);
const change = (subscription: Stripe.Subscription, items: Stripe.SubscriptionUpdateParams.Item[], more = {}) =>
  stripe.subscriptions.update(subscription.id, {
    items,
    proration_behavior: "always_invoice",
    payment_behavior: "pending_if_incomplete",
    expand: ["latest_invoice"],
    ...more,
  });

describe("a subscription at the local provider", () => {
  test("gives up a change whose invoice is voided, which only an open one can be", async () => {
    const { customer, subscription, item } = await harness.subscribed();
    fake.demandPayment();
    const waiting = await change(subscription, [{ id: item, price: harness.setting("STRIPE_PRICE_TEAM_MONTHLY") }]);
    const { id } = waiting.latest_invoice as Stripe.Invoice;
    const events = fake.events.length;
    expect(await stripe.invoices.voidInvoice(id)).toMatchObject({ id, status: "void", amount_remaining: 0 });
    expect(typesOf(fake.events.slice(events))).toEqual([
      "invoice.voided",
      "customer.subscription.pending_update_expired",
      "customer.subscription.updated",
    ]);
    const [after] = fake.subscriptions(customer);
    expect([after?.pending_update, after?.latest_invoice]).toEqual([null, id]);
    await expect(stripe.invoices.voidInvoice(id)).rejects.toMatchObject({ statusCode: 400 });
  });

  test("has its end scheduled and taken back, each way by its own name and beside no change that may wait", async () => {
    const { customer, subscription, item } = await harness.subscribed();
    const end = subscription.items.data[0]?.current_period_end;
    const scheduled = () => {
      const [{ cancel_at, cancel_at_period_end, canceled_at }] = fake.subscriptions(customer) as [Stripe.Subscription];
      return [cancel_at, cancel_at_period_end, canceled_at];
    };
    const ways = [
      ["portal", { cancel_at: "" }, { cancel_at_period_end: false }],
      ["dashboard", { cancel_at_period_end: false }, { cancel_at: "" }],
    ] as const;
    for (const [endLater, own, other] of ways) {
      const told = fake.changeSubscription(subscription.id, { endLater });
      expect(typesOf(told)).toEqual(["customer.subscription.updated"]);
      await stripe.subscriptions.update(subscription.id, other);
      expect(scheduled()).toEqual([end, endLater === "dashboard", seconds()]);
      await stripe.subscriptions.update(subscription.id, own);
      expect(scheduled()).toEqual([null, false, null]);
      expect(typesOf(fake.events.slice(-1))).toEqual(["customer.subscription.updated"]);
    }
    const price = harness.setting("STRIPE_PRICE_TEAM_MONTHLY");
    await expect(change(subscription, [{ id: item, price }], { cancel_at: "" })).rejects.toMatchObject({
      statusCode: 400,
      param: "cancel_at",
    });
    const both = stripe.subscriptions.update(subscription.id, { cancel_at: "", cancel_at_period_end: false });
    await expect(both).rejects.toMatchObject({ statusCode: 400 });
  });

  test("keeps a change that waits where its end is taken back, unless that change is to end it", async () => {
    const { customer, subscription, item } = await harness.subscribed();
    const price = harness.setting("STRIPE_PRICE_TEAM_MONTHLY");
    for (const more of [{}, { cancel_at_period_end: true }]) {
      fake.demandPayment();
      await change(subscription, [{ id: item, price }], more);
      await stripe.subscriptions.update(subscription.id, { cancel_at_period_end: false });
      expect(fake.subscriptions(customer)[0]?.pending_update === null).toBe("cancel_at_period_end" in more);
    }
  });
});
