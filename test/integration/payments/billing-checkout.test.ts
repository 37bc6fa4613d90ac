import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startService, type TestService } from "../../stack/service.ts";
import {
  CHECKOUT,
  customerOf,
  deliverAll,
  NOTHING_PENDING,
  OFFERS,
  ofSubscription,
  openCheckout,
  PENDING,
  planOf,
  shopper,
  subscriber,
  variant,
} from "./billing-support.ts";
import { assertBilling } from "./money-support.ts";
import { range, tally } from "../runs/support.ts";

let service: TestService;

beforeAll(async () => {
  service = await startService({ stripe: true });
});

afterAll(async () => {
  await assertBilling(service);
  await service.stop();
});

const price = (tier: string, cadence: string): string =>
  service.settings[`STRIPE_PRICE_${tier.toUpperCase()}_${cadence.toUpperCase()}`] ?? "";

/** The ids of the sessions that somebody could pay. */
const openSessions = async (customer: string): Promise<string[]> => {
  const query = new URLSearchParams({ customer, status: "open", limit: "100" });
  const headers = { authorization: `Bearer ${service.settings["STRIPE_SECRET_KEY"]}` };
  const response = await fetch(`${service.stripe.url}/v1/checkout/sessions?${query.toString()}`, { headers });
  const { data } = (await response.json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
};

describe("a checkout", () => {
  it.each(OFFERS)("of $tier $cadence opens a page, and its payment brings the plan", async ({ tier, cadence }) => {
    const user = await shopper(service);
    const { status, body } = await user.call("POST", CHECKOUT, { tier, cadence });
    expect([status, body.kind, body.url]).toEqual([200, "checkout", expect.stringContaining(body.session_id)]);
    expect(await planOf(service, user.id)).toBe("free");
    await deliverAll(service, service.stripe.pay(body.session_id));
    expect(await planOf(service, user.id)).toBe(tier);
    const [subscription] = service.stripe.subscriptions(await customerOf(service, user.id));
    expect(subscription?.items.data.map((item) => item.price.id)).toEqual([price(tier, cadence)]);
  });

  it("sends the browser back to the frontend, and makes the customer with the account's address", async () => {
    const user = await shopper(service);
    const session = await openCheckout(user);
    const asked = service.stripe.requests.findLast(({ path }) => path === "/v1/checkout/sessions")?.params;
    for (const page of ["success_url", "cancel_url"])
      expect(asked?.[page]).toMatch(new RegExp(`^${service.settings["FRONTEND_URL"]}/billing\\?`));
    const customer = await customerOf(service, user.id);
    expect(await openSessions(customer)).toEqual([session]);
    const made = service.stripe.customers().find(({ id }) => id === customer);
    expect([made?.email, made?.metadata]).toEqual([user.email, { user_id: user.id, account_email: user.email }]);
  });

  it("that is open is given again for the same offer, and gives way to another", async () => {
    const user = await shopper(service);
    const first = await openCheckout(user, "pro", "monthly");
    expect(await openCheckout(user, "pro", "monthly")).toBe(first);
    const second = await openCheckout(user, "team", "yearly");
    expect(second).not.toBe(first);
    expect(await openSessions(await customerOf(service, user.id))).toEqual([second]);
    const third = await openCheckout(user, "pro", "monthly");
    expect(await openSessions(await customerOf(service, user.id))).toEqual([third]);
  });

  it("is not opened beside a subscription whose first payment is under way", async () => {
    const user = await shopper(service);
    const session = await openCheckout(user);
    await deliverAll(service, ofSubscription(service.stripe.pay(session, { later: true })));
    for (const tier of ["pro", "team"]) {
      const { status, body } = await user.call("POST", CHECKOUT, { tier, cadence: "monthly" });
      expect([status, body.code, body.detail]).toEqual([
        409,
        "payment_in_progress",
        expect.stringContaining("pending-payment"),
      ]);
    }
    expect(await openSessions(await customerOf(service, user.id))).toEqual([]);
    // Nothing is left to pay, and nobody is to pay once more.
    const underWay = { pending: true, url: null, processing: true, reason: "first_payment" };
    expect((await user.call("GET", PENDING)).body).toEqual(underWay);
    await deliverAll(service, ofSubscription(service.stripe.settleLater(session, true)));
    expect((await user.call("GET", PENDING)).body).toEqual(NOTHING_PENDING);
    expect(await planOf(service, user.id)).toBe("pro");
  });

  it("has the provider write to the address that the account has by now, or was given there since", async () => {
    const user = await shopper(service);
    await openCheckout(user);
    const customer = await customerOf(service, user.id);
    for (const email of [`new-${user.email}`, user.email, `new-${user.email}`]) {
      await service.sql("update users set email = $1 where id = $2", [email, user.id]);
      await openCheckout(user, "team");
      expect(service.stripe.customers().find(({ id }) => id === customer)?.email).toBe(email);
    }
    const inPortal = await fetch(`${service.stripe.url}/v1/customers/${customer}`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.settings["STRIPE_SECRET_KEY"]}`, "idempotency-key": "in the portal" },
      body: new URLSearchParams({ email: "invoices@example.test" }),
    });
    expect(inPortal.status).toBe(200);
    await openCheckout(user);
    expect(service.stripe.customers().find(({ id }) => id === customer)?.email).toBe("invoices@example.test");
    expect(await customerOf(service, user.id)).toBe(customer);
  });

  it("is one for many requests at once", async () => {
    const user = await shopper(service);
    const answers = await Promise.all(
      range(20).map(() => user.call("POST", CHECKOUT, { tier: "pro", cadence: "monthly" })),
    );
    expect(tally(answers)).toEqual({ 200: 20 });
    expect(new Set(answers.map(({ body }) => body.session_id)).size).toBe(1);
    expect(service.stripe.customers().filter(({ email }) => email === user.email)).toHaveLength(1);
    expect(await openSessions(await customerOf(service, user.id))).toHaveLength(1);
  });

  it.each(["making the customer", "opening the page"])(
    "goes on, for all who ask, where the provider broke down at %s, though it keeps that for a day",
    async (at) => {
      const user = await shopper(service);
      if (at === "opening the page") await user.call("POST", "/api/v1/billing/portal");
      service.stripe.breakDown();
      const broken = await user.call("POST", CHECKOUT, { tier: "pro", cadence: "monthly" });
      expect([broken.status, broken.body["code"]]).toEqual([503, "dependency_unavailable"]);
      const answers = await Promise.all(
        range(8).map(() => user.call("POST", CHECKOUT, { tier: "pro", cadence: "monthly" })),
      );
      expect(tally(answers)).toEqual({ 200: 8 });
      expect(await openSessions(await customerOf(service, user.id))).toHaveLength(1);
      expect(service.stripe.customers().filter(({ email }) => email === user.email)).toHaveLength(1);
    },
  );

  it.each([
    ["a first page", false],
    ["a page that ended", true],
  ])(
    "of different offers at the same moment after %s is opened once; the other is refused, to be tried again",
    async (_what, before) => {
      const user = await shopper(service);
      if (before) service.stripe.expire(await openCheckout(user, "team", "yearly"));
      let waiting = 0;
      const both = Promise.withResolvers<undefined>();
      // Each has read what is open before either opens a page.
      const here = await variant(
        service,
        {},
        {
          fetch: async (input, init) => {
            const response = await fetch(input, init);
            const isListing =
              init?.method === "GET" &&
              new URL(input instanceof Request ? input.url : input).pathname === "/v1/checkout/sessions";
            if (isListing && (waiting += 1) === 2) both.resolve(undefined);
            if (isListing) await both.promise;
            return response;
          },
        },
      ).signIn(user);
      const answers = await Promise.all(OFFERS.slice(0, 2).map((offer) => here.call("POST", CHECKOUT, offer)));
      expect(tally(answers)).toEqual({ 200: 1, 409: 1 });
      const refused = answers.find(({ status }) => status === 409);
      expect([refused?.body["code"], refused?.headers.get("retry-after")]).toEqual(["payment_in_progress", "2"]);
      const given = answers.find(({ status }) => status === 200)?.body["session_id"];
      expect(await openSessions(await customerOf(service, user.id))).toEqual([given]);
    },
  );

  it("of any mix of offers at once leaves one page open", async () => {
    const user = await shopper(service);
    await openCheckout(user, "pro", "yearly");
    const answers = await Promise.all(range(24).map((n) => user.call("POST", CHECKOUT, OFFERS[n % OFFERS.length])));
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    expect(await openSessions(await customerOf(service, user.id))).toHaveLength(1);
  });

  it("keeps its answer under an Idempotency-Key, and refuses the key for another offer without doing it", async () => {
    const user = await shopper(service);
    const send = (tier: string) =>
      user.call("POST", CHECKOUT, { tier, cadence: "monthly" }, { "idempotency-key": "buy-1" });
    const first = await send("pro");
    const asked = service.stripe.requests.length;
    const again = await send("pro");
    expect(service.stripe.requests).toHaveLength(asked);
    expect([again.status, again.body, again.headers.get("idempotency-replayed")]).toEqual([200, first.body, "true"]);
    const other = await send("team");
    expect([other.status, other.body.code]).toEqual([422, "idempotency_key_reused"]);
    expect(await openSessions(await customerOf(service, user.id))).toEqual([first.body.session_id]);
  });

  it.each([
    [{ tier: "pro" }, "/cadence"],
    [{ tier: "enterprise", cadence: "monthly" }, "/tier"],
    [{ tier: "pro", cadence: "weekly" }, "/cadence"],
    [{ tier: "pro", cadence: "monthly", coupon: "x" }, "/coupon"],
  ])("refuses %j by pointing at %s", async (body, pointer) => {
    const answer = await (await shopper(service)).call("POST", CHECKOUT, body);
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, pointer]);
  });
});

describe("a subscription", () => {
  it("gets the asked price at once, and the plan follows its event", async () => {
    const { user, customer, subscription } = await subscriber(service, "pro", "monthly");
    const before = service.stripe.events.length;
    const { body } = await user.call("POST", CHECKOUT, { tier: "team", cadence: "monthly" });
    expect(body).toEqual({ kind: "plan_change", plan: "team", cadence: "monthly", effective_at: expect.any(String) });
    expect(await planOf(service, user.id)).toBe("pro");
    await deliverAll(service, service.stripe.events.slice(before));
    expect(await planOf(service, user.id)).toBe("team");
    expect(service.stripe.subscriptions(customer).map(({ id }) => id)).toEqual([subscription]);
    expect(await openSessions(customer)).toEqual([]);
  });

  it("that is trialing is changed, not bought a second time", async () => {
    const { user, customer, subscription } = await subscriber(service);
    await deliverAll(service, service.stripe.changeSubscription(subscription, { status: "trialing" }));
    const { body } = await user.call("POST", CHECKOUT, { tier: "pro", cadence: "yearly" });
    expect(body).toEqual({ kind: "plan_change", plan: "pro", cadence: "yearly", effective_at: expect.any(String) });
    expect(service.stripe.subscriptions(customer)).toHaveLength(1);
  });

  // The provider credits the rest of a period that was only invoiced: a large plan's, which nobody paid, for a small one.
  it.each([
    ["past_due", "team", expect.any(String)],
    ["unpaid", "free", null],
  ])("whose renewal is %s keeps its price, for many requests at once, until it is paid", async (status, plan, at) => {
    const { user, customer, subscription } = await subscriber(service, "team", "yearly");
    await deliverAll(service, service.stripe.changeSubscription(subscription, { status }));
    await deliverAll(service, service.stripe.changeSubscription(subscription, { endLater: "portal" }));
    const [before] = service.stripe.subscriptions(customer);
    const answers = await Promise.all(
      OFFERS.flatMap((offer) => [offer, offer]).map(async (offer) => {
        const { status: code, body } = await user.call("POST", CHECKOUT, offer);
        return { offer: `${offer.tier} ${offer.cadence}`, code, body };
      }),
    );
    for (const { offer, code, body } of answers)
      if (offer === "team yearly")
        expect(body).toEqual({ kind: "plan_change", plan: "team", cadence: "yearly", effective_at: at });
      else
        expect([code, body.code, body.detail]).toEqual([
          409,
          "payment_in_progress",
          expect.stringContaining("pending-payment"),
        ]);
    expect(service.stripe.subscriptions(customer)).toEqual([{ ...before, cancel_at: null, canceled_at: null }]);
    expect(await openSessions(customer)).toEqual([]);
    expect(await planOf(service, user.id)).toBe(plan);
    await deliverAll(service, service.stripe.changeSubscription(subscription, { status: "active" }));
    const made = service.stripe.events.length;
    expect((await user.call("POST", CHECKOUT, { tier: "pro", cadence: "monthly" })).body.kind).toBe("plan_change");
    await deliverAll(service, ofSubscription(service.stripe.events.slice(made)));
    expect(await planOf(service, user.id)).toBe("pro");
  });

  it("is invoiced once for a change that is asked for many times, at once and again", async () => {
    const { user, customer, subscription } = await subscriber(service);
    const invoices = () => service.stripe.events.filter(({ type }) => type === "invoice.paid").length;
    const before = invoices();
    const ask = () => user.call("POST", CHECKOUT, { tier: "team", cadence: "monthly" });
    expect(tally(await Promise.all(range(10).map(ask)))).toEqual({ 200: 10 });
    const updates = service.stripe.requests.filter(
      ({ method, path }) => method === "POST" && path.endsWith(subscription),
    );
    expect(new Set(updates.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect((await ask()).body.effective_at).not.toBeNull();
    expect(invoices()).toBe(before + 1);
    await deliverAll(
      service,
      service.stripe.events.filter(
        ({ data }) =>
          "customer" in data.object && data.object.customer === customer && data.object.object === "subscription",
      ),
    );
  });

  it("can go back to the former price, and forth again", async () => {
    const { user, customer } = await subscriber(service);
    for (const tier of ["team", "pro", "team", "pro"]) {
      const before = service.stripe.events.length;
      expect((await user.call("POST", CHECKOUT, { tier, cadence: "monthly" })).body.plan).toBe(tier);
      await deliverAll(service, service.stripe.events.slice(before));
      expect(await planOf(service, user.id)).toBe(tier);
    }
    expect(service.stripe.subscriptions(customer)).toHaveLength(1);
  });

  it.each([
    ["demandPayment", "applied"],
    ["demandPayment", "expired"],
    ["declineCard", "applied"],
    ["declineCard", "expired"],
  ] as const)("keeps its plan while a change waits for its payment: %s, %s", async (mood, pendingUpdate) => {
    const { user, subscription } = await subscriber(service);
    const before = service.stripe.events.length;
    service.stripe[mood]();
    const change = () => user.call("POST", CHECKOUT, { tier: "team", cadence: "monthly" });
    expect((await change()).body).toEqual({
      kind: "plan_change",
      plan: "team",
      cadence: "monthly",
      effective_at: null,
    });
    const updates = () =>
      service.stripe.requests.filter(({ method, path }) => method === "POST" && path.endsWith(subscription)).length;
    const made = updates();
    expect((await change()).body.effective_at).toBeNull();
    expect(updates()).toBe(made);
    await deliverAll(service, service.stripe.events.slice(before));
    expect(await planOf(service, user.id)).toBe("pro");
    const { body } = await user.call("GET", PENDING);
    expect(body).toEqual({
      ...NOTHING_PENDING,
      pending: true,
      url: expect.stringMatching(/^https:/),
      reason: "plan_change",
    });
    expect(await planOf(service, user.id)).toBe("pro");
    await deliverAll(service, service.stripe.changeSubscription(subscription, { pendingUpdate }));
    expect(await planOf(service, user.id)).toBe(pendingUpdate === "applied" ? "team" : "pro");
    expect((await user.call("GET", PENDING)).body).toEqual(NOTHING_PENDING);
  });

  it("that ended makes room for a new checkout", async () => {
    const { user, subscription } = await subscriber(service);
    await deliverAll(service, service.stripe.changeSubscription(subscription, { cancel: true }));
    expect(await planOf(service, user.id)).toBe("free");
    await deliverAll(service, service.stripe.pay(await openCheckout(user, "team", "yearly")));
    expect(await planOf(service, user.id)).toBe("team");
  });
});
