import type { Stripe } from "stripe";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StripeFake } from "../../stack/stripe/stripe.ts";
import { type StripeHarness, startStripeHarness } from "../../stack/stripe/harness.ts";
import { idOf } from "../../stack/stripe/store.ts";

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
const newCustomer = (): Promise<Stripe.Customer> => stripe.customers.create({ email: "buyer@example.test" });

async function seller(charges_enabled = true): Promise<string> {
  const capabilities = { transfers: { requested: true } };
  const { id } = await stripe.accounts.create({ type: "express", capabilities });
  fake.onboard(id, { charges_enabled, payouts_enabled: false });
  return id;
}

describe("customers", () => {
  test("are made, read, changed, listed and deleted with what they pay", async () => {
    const made = await stripe.customers.create({ email: "one@example.test", metadata: { user_id: "u", gone: "x" } });
    expect(made).toMatchObject({ object: "customer", created: seconds(), livemode: false, name: null });
    expect(made.id).toMatch(/^cus_\w{24}$/);
    await stripe.customers.update(made.id, { name: "One", metadata: { gone: "", more: "é & [b]=c" } });
    const read = await stripe.customers.retrieve(made.id);
    expect(read).toMatchObject({ name: "One", metadata: { user_id: "u", more: "é & [b]=c" } });
    expect((read as Stripe.Customer).metadata).not.toHaveProperty("gone");
    expect((await stripe.customers.list({ email: "one@example.test" })).data).toEqual([read]);
    fake.pay((await harness.buyPlan(made.id)).id);
    await stripe.customers.del(made.id);
    expect(await stripe.customers.retrieve(made.id)).toEqual({ id: made.id, object: "customer", deleted: true });
    expect(fake.subscriptions(made.id)).toMatchObject([{ status: "canceled" }]);
    expect(fake.customers().map(({ id }) => id)).not.toContain(made.id);
    await expect(stripe.customers.del(made.id)).rejects.toMatchObject({ statusCode: 404, code: "resource_missing" });
  });

  test("are listed page by page, the newest first", async () => {
    const made: string[] = [];
    for (let n = 0; n < 5; n += 1) made.unshift((await stripe.customers.create({ email: "page@example.test" })).id);
    const first = await stripe.customers.list({ email: "page@example.test", limit: 2 });
    expect([first.has_more, ...first.data.map(({ id }) => id)]).toEqual([true, ...made.slice(0, 2)]);
    const all = await stripe.customers.list({ email: "page@example.test", limit: 2 }).autoPagingToArray({ limit: 9 });
    expect(all.map(({ id }) => id)).toEqual(made);
    const last = await stripe.customers.list({ email: "page@example.test", ending_before: made[4] ?? "", limit: 2 });
    expect(last.data.map(({ id }) => id)).toEqual(made.slice(2, 4));
  });

  test("have a page of their own", async () => {
    const { id: customer } = await newCustomer();
    const session = await stripe.billingPortal.sessions.create({ customer, return_url: "https://app.example.test/" });
    expect(session).toMatchObject({ object: "billing_portal.session", customer, livemode: false });
    expect(session.url).toMatch(/^https:\/\/billing\.stripe\.com\//);
  });
});

describe("a checkout session", () => {
  test("of a subscription makes one when it is paid, with its events in order", async () => {
    const { id: customer } = await newCustomer();
    const session = await harness.buyPlan(customer);
    expect(session).toMatchObject({ status: "open", payment_status: "unpaid", subscription: null, amount_total: 2900 });
    expect(session).toMatchObject({ customer, metadata: { kind: "subscription" }, expires_at: seconds() + 86_400 });
    expect([session.id.slice(0, 8), session.url]).toEqual(["cs_test_", expect.stringContaining(session.id)]);
    const events = fake.pay(session.id);
    expect(typesOf(events)).toEqual([
      "checkout.session.completed",
      "customer.subscription.created",
      "customer.subscription.updated",
      "invoice.paid",
    ]);
    expect(events.slice(1, 3).map((event) => (event.data.object as Stripe.Subscription).status)).toEqual([
      "incomplete",
      "active",
    ]);
    expect(events[2]?.data.previous_attributes).toEqual({ status: "incomplete" });
    const expand = ["line_items", "customer", "subscription.latest_invoice"];
    expect(await stripe.checkout.sessions.retrieve(session.id, { expand })).toMatchObject({
      status: "complete",
      payment_status: "paid",
      url: null,
      customer: { object: "customer", id: customer },
      line_items: { data: [{ quantity: 1, price: { id: harness.setting("STRIPE_PRICE_PRO_MONTHLY") } }] },
      subscription: {
        status: "active",
        customer,
        metadata: { origin: "checkout" },
        items: { data: [{ price: { recurring: { interval: "month" } } }] },
        latest_invoice: { status: "paid", customer, amount_paid: 2900 },
      },
    });
    expect(() => fake.pay(session.id)).toThrow("complete");
  });

  test("of a payment leads to its charge, keeping who gets what", async () => {
    const destination = await seller();
    const session = await harness.buyOnce({
      payment_intent_data: { application_fee_amount: 200, transfer_data: { destination }, metadata: { row: "1" } },
    });
    expect(typesOf(fake.pay(session.id))).toEqual([
      "charge.succeeded",
      "payment_intent.succeeded",
      "checkout.session.completed",
    ]);
    const paid = await stripe.checkout.sessions.retrieve(session.id, { expand: ["payment_intent.latest_charge"] });
    const money = { amount: 2000, application_fee_amount: 200, transfer_data: { destination }, metadata: { row: "1" } };
    expect(paid.payment_intent).toMatchObject({
      ...money,
      status: "succeeded",
      latest_charge: { ...money, paid: true },
    });
    const intent = paid.payment_intent as Stripe.PaymentIntent;
    const { id } = intent.latest_charge as Stripe.Charge;
    expect(await stripe.charges.retrieve(id)).toMatchObject({ payment_intent: intent.id, refunded: false });
    expect((await stripe.charges.list({ payment_intent: intent.id })).data).toMatchObject([{ id }]);
    expect((await stripe.checkout.sessions.list({ payment_intent: intent.id })).data).toMatchObject([
      { id: session.id },
    ]);
    expect((await stripe.checkout.sessions.listLineItems(session.id)).data).toMatchObject([{ amount_total: 2000 }]);
  });

  test.each([
    [true, "paid", ["charge.succeeded", "payment_intent.succeeded", "checkout.session.async_payment_succeeded"]],
    [false, "unpaid", ["charge.failed", "payment_intent.payment_failed", "checkout.session.async_payment_failed"]],
  ])("whose payment is settled later (%s) ends %s", async (succeeds, payment_status, types) => {
    const { id } = await harness.buyOnce();
    const [completed] = fake.pay(id, { later: true }).slice(-1);
    expect(completed).toMatchObject({
      type: "checkout.session.completed",
      data: { object: { status: "complete", payment_status: "unpaid" } },
    });
    expect(typesOf(fake.settleLater(id, succeeds))).toEqual(types);
    expect(await stripe.checkout.sessions.retrieve(id)).toMatchObject({ status: "complete", payment_status });
    expect(() => fake.settleLater(id, true)).toThrow("under way");
  });

  test.each([
    [true, "active", "paid"],
    [false, "incomplete_expired", "void"],
  ])("of a subscription that is settled later (%s) leaves it %s", async (succeeds, status, invoice) => {
    const { id: customer } = await newCustomer();
    const { id } = await harness.buyPlan(customer);
    fake.pay(id, { later: true });
    expect(fake.subscriptions(customer)).toMatchObject([{ status: "incomplete" }]);
    fake.settleLater(id, succeeds);
    expect(fake.subscriptions(customer)).toMatchObject([{ status }]);
    expect((await stripe.invoices.list({ customer })).data).toMatchObject([{ status: invoice }]);
  });

  test("is listed by customer and status, expires by call, by hand and by time, and only while it is open", async () => {
    const { id: customer } = await newCustomer();
    const [paid, called, forced, left] = [
      await harness.buyPlan(customer),
      await harness.buyPlan(customer),
      await harness.buyPlan(customer),
      await harness.buyPlan(customer),
    ];
    fake.pay(paid.id);
    expect(await stripe.checkout.sessions.expire(called.id)).toMatchObject({ status: "expired", url: null });
    expect(typesOf(fake.expire(forced.id))).toEqual(["checkout.session.expired"]);
    const idsOf = async (status: "open" | "complete" | "expired") =>
      (await stripe.checkout.sessions.list({ customer, status })).data.map(({ id }) => id);
    expect([await idsOf("open"), await idsOf("complete")]).toEqual([[left.id], [paid.id]]);
    for (const { id } of [paid, called]) {
      await expect(stripe.checkout.sessions.expire(id)).rejects.toMatchObject({ statusCode: 400 });
    }
    harness.clock.now += 86_400_000;
    expect(await idsOf("expired")).toEqual([left.id, forced.id, called.id]);
    expect(fake.events.at(-1)).toMatchObject({ type: "checkout.session.expired", data: { object: { id: left.id } } });
  });

  test.each<[string, () => Partial<Stripe.Checkout.SessionCreateParams>, object]>([
    [
      "a recurring price in payment mode",
      () => ({ line_items: [{ price: harness.setting("STRIPE_PRICE_PRO_MONTHLY") }] }),
      { param: "line_items" },
    ],
    [
      "no recurring price in subscription mode",
      () => ({ mode: "subscription", line_items: [{ price: harness.setting("STRIPE_PRICE_CERTIFICATION") }] }),
      { param: "line_items" },
    ],
    ["a price that is not there", () => ({ line_items: [{ price: "price_none" }] }), { code: "resource_missing" }],
    ["a customer that is not there", () => ({ customer: "cus_none" }), { code: "resource_missing", param: "customer" }],
    [
      "what is for subscriptions in payment mode",
      () => ({ subscription_data: { description: "x" } }),
      { param: "subscription_data" },
    ],
    [
      "a fee above the amount",
      () => ({ payment_intent_data: { application_fee_amount: 2001 } }),
      { param: "payment_intent_data[application_fee_amount]" },
    ],
    ["an end that is too near", () => ({ expires_at: seconds() + 60 }), { param: "expires_at" }],
  ])("is not made with %s", async (_what, more, refusal) => {
    await expect(harness.buyOnce(more())).rejects.toMatchObject({ statusCode: 400, ...refusal });
  });

  test("sends money only to sellers that may have it", async () => {
    const destination = await seller(false);
    const payment_intent_data = { transfer_data: { destination } };
    const code = "insufficient_capabilities_for_transfer";
    await expect(harness.buyOnce({ payment_intent_data })).rejects.toMatchObject({ code });
    fake.onboard(destination, { charges_enabled: true, payouts_enabled: true });
    expect(await harness.buyOnce({ payment_intent_data })).toMatchObject({ status: "open" });
  });
});

describe("money that goes back", () => {
  test("is counted on the charge, in parts and whole, and never more than was paid", async () => {
    const { id } = await harness.buyOnce();
    fake.pay(id);
    const payment_intent = idOf((await stripe.checkout.sessions.retrieve(id)).payment_intent);
    const [part] = fake.refund(payment_intent, 500);
    expect(part).toMatchObject({
      type: "charge.refunded",
      data: { object: { amount_refunded: 500, refunded: false } },
    });
    await expect(stripe.refunds.create({ payment_intent, amount: 1501 })).rejects.toMatchObject({ param: "amount" });
    const rest = await stripe.refunds.create({ payment_intent, reason: "requested_by_customer" });
    expect(rest).toMatchObject({ amount: 1500, status: "succeeded", reason: "requested_by_customer" });
    expect(await stripe.refunds.retrieve(rest.id)).toEqual(rest);
    const charge = await stripe.charges.retrieve(idOf(rest.charge), { expand: ["refunds"] });
    expect(charge).toMatchObject({ amount_refunded: 2000, refunded: true, refunds: { data: [{ amount: 1500 }, {}] } });
    expect((await stripe.refunds.list({ payment_intent })).data.map(({ amount }) => amount)).toEqual([1500, 500]);
    // What an event tells stays as it was.
    expect(fake.events.find((event) => event.id === part?.id)).toEqual(part);
    await expect(stripe.refunds.create({ payment_intent })).rejects.toMatchObject({ code: "charge_already_refunded" });
  });
});

test("sellers are onboarded by a link, and tell what they may do", async () => {
  const { id } = await stripe.accounts.create({ type: "express", email: "s@example.test", metadata: { user_id: "u" } });
  const links = [1, 2].map(() =>
    stripe.accountLinks.create({
      account: id,
      type: "account_onboarding",
      refresh_url: "https://app.example.test/again",
      return_url: "https://app.example.test/done",
    }),
  );
  expect(new Set((await Promise.all(links)).map(({ url }) => url)).size).toBe(2);
  const flags = { charges_enabled: true, payouts_enabled: false };
  expect(await stripe.accounts.retrieve(id)).toMatchObject({ charges_enabled: false, details_submitted: false });
  expect(fake.onboard(id, flags)).toMatchObject([{ type: "account.updated", account: id, data: { object: flags } }]);
  expect(await stripe.accounts.retrieve(id)).toMatchObject({ ...flags, metadata: { user_id: "u" } });
});

test("prices are there as the settings say", async () => {
  expect(await stripe.prices.retrieve(harness.setting("STRIPE_PRICE_CERTIFICATION"))).toMatchObject({
    unit_amount: 3900,
    currency: "usd",
    type: "one_time",
  });
});
