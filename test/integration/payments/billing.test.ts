import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Caller } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  CANCEL,
  CHECKOUT,
  deliverAll,
  NOTHING_PENDING,
  OFFERS,
  payer,
  PENDING,
  planOf,
  PORTAL,
  PRODUCTION,
  shopper,
  signatureOf,
  subscriber,
  toFake,
  variant,
  WEBHOOK,
} from "./billing-support.ts";
import { assertMoney } from "./money-support.ts";
import { range } from "../runs/support.ts";

let service: TestService;

beforeAll(async () => {
  service = await startService({ stripe: true });
});

afterAll(async () => {
  await assertMoney(service);
  expect(service.stripe.refused).toEqual([]);
  await service.stop();
});

const STATUS = "/api/v1/billing/status";

describe("cancelling", () => {
  it("ends every subscription at the provider at once, and the plan follows", async () => {
    const { user, customer } = await subscriber(service, "team", "yearly");
    const before = service.stripe.events.length;
    const answers = await Promise.all(range(5).map(() => user.call("POST", CANCEL)));
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    for (const { status, body } of answers)
      expect(status === 200 ? body : body["code"]).toEqual(
        status === 200 ? { kind: "dev_upgrade", plan: "free" } : "no_subscription",
      );
    expect(service.stripe.subscriptions(customer).map(({ status }) => status)).toEqual(["canceled"]);
    expect(await planOf(service, user.id)).toBe("team");
    const events = service.stripe.events.slice(before);
    expect(events.map(({ type }) => type)).toEqual(["customer.subscription.deleted"]);
    await deliverAll(service, events);
    expect(await planOf(service, user.id)).toBe("free");
  });

  it.each(["free", "team", "enterprise"] as const)(
    "says where a %s account pays for nothing, and leaves its plan",
    async (plan) => {
      const user = await shopper(service, plan);
      const answer = await user.call("POST", CANCEL);
      expect([answer.status, answer.body.code]).toEqual([409, "no_subscription"]);
      expect(await planOf(service, user.id)).toBe(plan);
    },
  );

  it("leaves an enterprise contract in force", async () => {
    const { user } = await subscriber(service);
    await service.sql("update users set plan = 'enterprise' where id = $1", [user.id]);
    const before = service.stripe.events.length;
    expect((await user.call("POST", CANCEL)).body).toEqual({ kind: "dev_upgrade", plan: "enterprise" });
    await deliverAll(service, service.stripe.events.slice(before));
    expect(await planOf(service, user.id)).toBe("enterprise");
  });
});

describe("the portal", () => {
  it("is linked anew each time, for one customer however many ask at first", async () => {
    const user = await shopper(service);
    const answers = await Promise.all(range(5).map(() => user.call("POST", PORTAL)));
    expect(answers.map(({ body }) => body.kind)).toEqual(range(5).map(() => "portal"));
    expect(new Set(answers.map(({ body }) => body["url"])).size).toBe(5);
    expect(service.stripe.customers().filter(({ email }) => email === user.email)).toHaveLength(1);
  });
});

describe("a pending payment", () => {
  it("is none for an account that never paid, nor for one that paid all", async () => {
    expect((await (await shopper(service)).call("GET", PENDING)).body).toEqual(NOTHING_PENDING);
    expect((await (await subscriber(service)).user.call("GET", PENDING)).body).toEqual(NOTHING_PENDING);
  });

  it("is a renewal that was given up, with no page to pay at once its invoices are not finished any more", async () => {
    const { user, subscription } = await subscriber(service);
    await deliverAll(service, service.stripe.changeSubscription(subscription, { status: "unpaid" }));
    await deliverAll(service, service.stripe.beginUnpaidPeriod(subscription));
    expect((await user.call("GET", PENDING)).body).toEqual({ ...NOTHING_PENDING, pending: true, reason: "renewal" });
    expect(await planOf(service, user.id)).toBe("free");
    const before = service.stripe.events.length;
    expect((await user.call("POST", CANCEL)).status).toBe(200);
    await deliverAll(service, service.stripe.events.slice(before));
    expect((await user.call("GET", PENDING)).body).toEqual(NOTHING_PENDING);
  });

  it("gives no page of a subscription that is another customer's", async () => {
    const [mine, theirs] = [await subscriber(service), await subscriber(service)];
    service.stripe.demandPayment();
    await theirs.user.call("POST", CHECKOUT, { tier: "team", cadence: "monthly" });
    expect((await theirs.user.call("GET", PENDING)).body.pending).toBe(true);
    const point = (at: string) =>
      service.sql("update billing_customers set subscription_id = $2 where user_id = $1", [mine.user.id, at]);
    await point(theirs.subscription);
    expect((await mine.user.call("GET", PENDING)).body).toEqual(NOTHING_PENDING);
    await point(mine.subscription);
    await deliverAll(service, service.stripe.changeSubscription(theirs.subscription, { pendingUpdate: "expired" }));
  });

  it.each(["subscriptions", "invoices"])(
    "gives no page where the provider gives %s that are another customer's",
    async (kind) => {
      const { user, subscription, customer } = await subscriber(service);
      service.stripe.demandPayment();
      await user.call("POST", CHECKOUT, { tier: "team", cadence: "monthly" });
      const strangers = variant(service, PRODUCTION, {
        fetch: async (input, init) => {
          const response = await toFake(service)(input, init);
          const url = String(input instanceof Request ? input.url : input);
          if (!url.includes(`/v1/${kind}/`)) return response;
          return new Response((await response.text()).replaceAll(customer, "cus_another"), response);
        },
      });
      expect((await user.call("GET", PENDING)).body.pending).toBe(true);
      expect((await (await strangers.signIn(user)).call("GET", PENDING)).body).toEqual(NOTHING_PENDING);
      await deliverAll(service, service.stripe.changeSubscription(subscription, { pendingUpdate: "expired" }));
    },
  );
});

describe("in production", () => {
  const production = () => variant(service, PRODUCTION, { fetch: toFake(service) });

  it.each([
    ["a checkout", "POST", CHECKOUT, { tier: "team", cadence: "yearly" }],
    ["the portal", "POST", PORTAL, undefined],
    ["a cancellation", "POST", CANCEL, undefined],
    ["a pending payment", "GET", PENDING, undefined],
    ["the status", "GET", STATUS, undefined],
    ["a word on dev mode", "POST", `${CHECKOUT}?dev=true`, { tier: "pro", cadence: "monthly" }],
  ])("%s writes no plan: not of who pays nothing, nor of who has paid already", async (_what, method, path, body) => {
    for (const arrange of [shopper, async () => (await payer(service)).user]) {
      const user = await arrange(service);
      const answer = await (await production().signIn(user)).call(method, path, body);
      // The contract knows no parameter for it, and refuses those that it does not know.
      expect(path.includes("?") ? [422] : [200, 409]).toContain(answer.status);
      expect(answer.body["kind"]).not.toBe(path === CANCEL ? "checkout" : "dev_upgrade");
      expect(await planOf(service, user.id)).toBe("free");
      await service.sql("delete from billing_customers where user_id = $1", [user.id]);
    }
  });

  it.each<[string, (body: string) => [string, Record<string, string>]]>([
    ["no signature", (body) => [body, {}]],
    [
      "a signature of another secret",
      (body) => [body, { "stripe-signature": signatureOf(service, body, { secret: "whsec_own" }) }],
    ],
    [
      "a signature of an empty secret",
      (body) => [body, { "stripe-signature": signatureOf(service, body, { secret: " " }) }],
    ],
    [
      "a signature that is too old",
      (body) => [
        body,
        { "stripe-signature": signatureOf(service, body, { timestamp: Math.floor(Date.now() / 1000) - 310 }) },
      ],
    ],
    ["a signature over another body", (body) => [`${body} `, { "stripe-signature": signatureOf(service, body) }]],
    [
      "a signature of the scheme that is for tests",
      (body) => [body, { "stripe-signature": signatureOf(service, body, { scheme: "v0" }) }],
    ],
  ])("an event with %s writes no plan; the right one does", async (_what, forge) => {
    const { user, created } = await payer(service);
    const body = JSON.stringify(created);
    const [sent, headers] = forge(body);
    expect((await production().call("POST", WEBHOOK, sent, headers)).body.code).toBe("invalid_signature");
    expect(await planOf(service, user.id)).toBe("free");
    const answer = await production().call("POST", WEBHOOK, body, { "stripe-signature": signatureOf(service, body) });
    expect([answer.status, await planOf(service, user.id)]).toEqual([200, "pro"]);
  });

  it("a signed event says nothing of the plan by itself: the provider is asked", async () => {
    const { user, created } = await payer(service);
    const claimed = structuredClone(created);
    const [item] = (claimed.data.object as { items: { data: { price: { id: string } }[] } }).items.data;
    if (item !== undefined) item.price.id = service.settings["STRIPE_PRICE_TEAM_YEARLY"] ?? "";
    const body = JSON.stringify(claimed);
    await production().call("POST", WEBHOOK, body, { "stripe-signature": signatureOf(service, body) });
    expect(await planOf(service, user.id)).toBe("pro");
  });
});

describe("what is not set up or switched off", () => {
  const bodies: Record<string, unknown> = { [CHECKOUT]: { tier: "pro", cadence: "monthly" } };
  const ask = async (who: Caller): Promise<Record<string, unknown>> => {
    const answers: Record<string, unknown> = {};
    for (const [method, path] of [
      ["POST", CHECKOUT],
      ["POST", PORTAL],
      ["POST", CANCEL],
      ["GET", PENDING],
    ] as const) {
      const { status, body } = await who.call(method, path, bodies[path]);
      answers[path] = status === 200 ? (body.kind ?? body) : [status, body.code];
    }
    return answers;
  };

  it("answers with billing off what does not move money, and nothing else", async () => {
    const { user, customer } = await subscriber(service);
    const off = await variant(service, { FLAGS: "certify" }).signIn(user);
    expect(await ask(off)).toEqual({
      [CHECKOUT]: [503, "billing_disabled"],
      [PORTAL]: "portal",
      [CANCEL]: [503, "billing_disabled"],
      [PENDING]: NOTHING_PENDING,
    });
    expect(service.stripe.subscriptions(customer)).toMatchObject([{ status: "active" }]);
    expect((await off.call("GET", "/api/v1/billing/status")).body.billing_enabled).toBe(false);
    expect((await off.call("POST", "/api/v1/billing/notify-me", { email: user.email })).status).toBe(200);
  });

  it("answers in production without a key 503, and grants nothing", async () => {
    const user = await shopper(service);
    const keyless = variant(service, { ...PRODUCTION, STRIPE_SECRET_KEY: "" }, { fetch: toFake(service) });
    const missing = [503, "payment_not_configured"];
    expect(await ask(await keyless.signIn(user))).toEqual({
      [CHECKOUT]: missing,
      [PORTAL]: missing,
      [CANCEL]: missing,
      [PENDING]: missing,
    });
    expect(await planOf(service, user.id)).toBe("free");
  });

  it.each(OFFERS)("names the setting that $tier $cadence lacks", async ({ tier, cadence }) => {
    const setting = `STRIPE_PRICE_${tier}_${cadence}`.toUpperCase();
    const user = await variant(service, { [setting]: "" }).signIn(await shopper(service));
    const { status, body } = await user.call("POST", CHECKOUT, { tier, cadence });
    expect([status, body.code, body.detail]).toEqual([503, "payment_not_configured", expect.stringContaining(setting)]);
  });
});

describe("dev mode", () => {
  const dev = () => variant(service, { STRIPE_SECRET_KEY: "" }, { fetch: () => Promise.reject(new Error("asked")) });

  it.each([
    ["free", "pro"],
    ["pro", "pro"],
    ["team", "team"],
    ["enterprise", "enterprise"],
  ] as const)("makes a %s account %s at once, whichever tier is asked for", async (plan, after) => {
    const user = await shopper(service, plan);
    const { body } = await (await dev().signIn(user)).call("POST", CHECKOUT, { tier: "team", cadence: "yearly" });
    expect(body).toEqual({ kind: "dev_upgrade", plan: after });
    expect(await planOf(service, user.id)).toBe(after);
  });

  it("tells the plan instead of a portal, ends it at once, and has nothing pending", async () => {
    const user = await shopper(service, "team");
    const here = await dev().signIn(user);
    expect((await here.call("POST", PORTAL)).body).toEqual({ kind: "dev_upgrade", plan: "team" });
    expect((await here.call("GET", PENDING)).body).toEqual(NOTHING_PENDING);
    expect(await planOf(service, user.id)).toBe("team");
    expect((await here.call("POST", CANCEL)).body).toEqual({ kind: "dev_upgrade", plan: "free" });
    expect((await here.call("POST", CANCEL)).body.code).toBe("no_subscription");
  });
});
