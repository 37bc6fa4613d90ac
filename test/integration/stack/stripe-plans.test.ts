import type { Stripe } from "stripe";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StripeFake } from "../../stack/stripe/stripe.ts";
import { type StripeHarness, startStripeHarness } from "../../stack/stripe/harness.ts";

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

describe("a subscription", () => {
  const change = (subscription: Stripe.Subscription, items: Stripe.SubscriptionUpdateParams.Item[], more = {}) =>
    stripe.subscriptions.update(subscription.id, {
      items,
      proration_behavior: "always_invoice",
      payment_behavior: "pending_if_incomplete",
      expand: ["latest_invoice"],
      ...more,
    });
  const priceOf = ({ items }: Stripe.Subscription): string => items.data.map(({ price }) => price.id).join();

  test("gets another price at once, by an invoice that is paid", async () => {
    const { subscription, item } = await harness.subscribed();
    const price = harness.setting("STRIPE_PRICE_TEAM_YEARLY");
    const changed = await change(subscription, [{ id: item, price }]);
    expect(changed).toMatchObject({ status: "active", pending_update: null, latest_invoice: { status: "paid" } });
    expect([priceOf(changed), changed.items.data[0]?.current_period_end]).toEqual([price, seconds() + 365 * 86_400]);
    expect(typesOf(fake.events.slice(-2))).toEqual(["customer.subscription.updated", "invoice.paid"]);
    const told = fake.events.findLast(({ type }) => type === "customer.subscription.created");
    expect(priceOf(told?.data.object as Stripe.Subscription)).toBe(priceOf(subscription));
    const events = fake.events.length;
    await change(changed, [{ id: item, price }]);
    expect(fake.events).toHaveLength(events);
  });

  test.each(["applied", "expired"] as const)(
    "keeps its price while the payment is due, until that is %s",
    async (end) => {
      const { customer, subscription, item } = await harness.subscribed();
      const price = harness.setting("STRIPE_PRICE_TEAM_MONTHLY");
      fake.demandPayment();
      const waiting = await change(subscription, [{ id: item, price }], { metadata: { asked: "yes" } });
      expect(waiting).toMatchObject({
        metadata: { origin: "checkout" },
        pending_update: { expires_at: seconds() + 23 * 3600, subscription_items: [{ price: { id: price } }] },
        latest_invoice: { status: "open", customer, hosted_invoice_url: expect.stringContaining("https://") },
      });
      expect(priceOf(waiting)).toBe(priceOf(subscription));
      const types = typesOf(fake.changeSubscription(subscription.id, { pendingUpdate: end }));
      expect(types.slice(1)).toEqual([`customer.subscription.pending_update_${end}`, "customer.subscription.updated"]);
      const [after] = fake.subscriptions(customer);
      expect(after).toMatchObject({ pending_update: null, metadata: end === "applied" ? { asked: "yes" } : {} });
      expect(priceOf(after as Stripe.Subscription)).toBe(end === "applied" ? price : priceOf(subscription));
      const { data } = await stripe.invoices.list({ subscription: subscription.id });
      expect(data.map(({ status }) => status)).toEqual([end === "applied" ? "paid" : "void", "paid"]);
    },
  );

  test("gives up a change that was not paid in time, or that another change overtakes", async () => {
    const { customer, subscription, item } = await harness.subscribed();
    for (const overtake of [true, false]) {
      fake.demandPayment();
      await change(subscription, [{ id: item, price: harness.setting("STRIPE_PRICE_TEAM_MONTHLY") }]);
      if (overtake) await change(subscription, [{ id: item, price: harness.setting("STRIPE_PRICE_PRO_MONTHLY") }]);
      else harness.clock.now += 23 * 3_600_000;
      await stripe.subscriptions.retrieve(subscription.id);
      expect(fake.subscriptions(customer)).toMatchObject([{ pending_update: null }]);
      expect(typesOf(fake.events.slice(-3))).toContain("customer.subscription.pending_update_expired");
    }
  });

  test.each([
    ["declineCard", { statusCode: 402, code: "card_declined" }],
    ["demandPayment", { statusCode: 402, type: "StripeCardError" }],
  ] as const)(
    "changes nothing where %s makes it fail and an error is asked for, and does the next time",
    async (mood, refusal) => {
      const { customer, subscription, item } = await harness.subscribed();
      const price = harness.setting("STRIPE_PRICE_TEAM_MONTHLY");
      const more = { payment_behavior: "error_if_incomplete" };
      fake[mood]();
      await expect(change(subscription, [{ id: item, price }], more)).rejects.toMatchObject(refusal);
      expect(fake.subscriptions(customer)).toEqual([subscription]);
      expect(priceOf(await change(subscription, [{ id: item, price }], more))).toBe(price);
    },
  );

  test("gets an item more where the change names none, and none that does not fit", async () => {
    const { subscription } = await harness.subscribed();
    const price = harness.setting("STRIPE_PRICE_TEAM_MONTHLY");
    expect((await change(subscription, [{ price }])).items.data).toHaveLength(2);
    for (const wrong of [{ price }, { price: harness.setting("STRIPE_PRICE_PRO_YEARLY") }, { id: "si_none", price }]) {
      await expect(change(subscription, [wrong])).rejects.toMatchObject({ statusCode: 400 });
    }
  });

  test("ends once, is listed by its status, and cannot be changed after that", async () => {
    const { customer, subscription, item } = await harness.subscribed();
    const ids = async (status?: "active" | "all" | "canceled") =>
      (await stripe.subscriptions.list({ customer, ...(status === undefined ? {} : { status }) })).data.length;
    expect([await ids(), await ids("active"), await ids("canceled")]).toEqual([1, 1, 0]);
    expect(await stripe.subscriptions.cancel(subscription.id)).toMatchObject({
      status: "canceled",
      ended_at: seconds(),
    });
    expect(fake.events.at(-1)).toMatchObject({ type: "customer.subscription.deleted" });
    expect([await ids(), await ids("active"), await ids("canceled"), await ids("all")]).toEqual([0, 0, 1, 1]);
    await expect(stripe.subscriptions.cancel(subscription.id)).rejects.toMatchObject({ code: "resource_missing" });
    const price = harness.setting("STRIPE_PRICE_TEAM_MONTHLY");
    await expect(change(subscription, [{ id: item, price }])).rejects.toMatchObject({ statusCode: 400 });
  });

  test("is changed by the customer's hand and the provider's", async () => {
    const { customer, subscription } = await harness.subscribed();
    const price = harness.setting("STRIPE_PRICE_TEAM_MONTHLY");
    const [moved] = fake.changeSubscription(subscription.id, { price });
    expect(moved).toMatchObject({
      type: "customer.subscription.updated",
      data: { previous_attributes: { items: {} } },
    });
    fake.changeSubscription(subscription.id, { status: "past_due" });
    expect(fake.subscriptions(customer)).toMatchObject([
      { status: "past_due", items: { data: [{ price: { id: price } }] } },
    ]);
    expect(typesOf(fake.changeSubscription(subscription.id, { cancel: true }))).toEqual([
      "customer.subscription.deleted",
    ]);
  });

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
