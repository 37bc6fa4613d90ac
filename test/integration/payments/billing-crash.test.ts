import { AsyncLocalStorage } from "node:async_hooks";
import { Buffer } from "node:buffer";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { signature } from "../../stack/broker/delivery.ts";
import type { Answer, User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  CANCEL,
  CHECKOUT,
  customerOf,
  deliverAll,
  ofSubscription,
  openCheckout,
  planOf,
  PORTAL,
  shopper,
  signatureOf,
  subscriber,
  type Variant,
  variant,
  WEBHOOK,
} from "./billing-support.ts";
import { assertBilling } from "./money-support.ts";
import { range } from "../runs/support.ts";

/**
 * How the process ends at a call: before it reaches the other side, after its work is done there, or by the other side's
 * failure. No call after it is made.
 */
type End = "down" | "lost" | "error";

/** The outgoing calls of one request, and at which of them the process ends. */
interface Life {
  calls: string[];
  at: number;
  end: End;
}

const lives = new AsyncLocalStorage<Life>();
let service: TestService;
let here: Variant;

beforeAll(async () => {
  service = await startService({ stripe: true });
  here = variant(service, {});
  // Makes the denylist of sessions whole. Until it is, the first request of all reads more than those that repeat it, and
  // what it calls would not be what they call.
  await service.app.scheduled("* * * * *");
  const real = globalThis.fetch;
  const outside = [service.settings["NEON_LOCAL_PROXY"], service.stripe.url].map(String);
  vi.stubGlobal("fetch", async (input: string | URL | Request, init?: RequestInit) => {
    const life = lives.getStore();
    const url = String(input instanceof Request ? input.url : input);
    if (life === undefined || !outside.some((origin) => url.startsWith(origin))) return real(input, init);
    const n = life.calls.push(`${init?.method} ${new URL(url).pathname}`) - 1;
    if (n < life.at) return real(input, init);
    if (n === life.at && life.end === "lost") await real(input, init);
    if (life.end === "error")
      return Response.json({ message: "failed", error: { type: "api_error" } }, { status: 500 });
    throw new TypeError("fetch failed");
  });
});

afterAll(async () => {
  vi.unstubAllGlobals();
  await assertBilling(service);
  await service.stop();
});

const ONCE = { "idempotency-key": "once" };

/** What is done twice, the first time with a crash: it begins with `arrange` and ends with `check`. */
interface Path<W> {
  arrange(): Promise<W>;
  act(world: W): Promise<Answer>;
  check(world: W, again: Answer): Promise<void>;
}

/** Goes a path once for every outgoing call that it has and every end at it. Returns the calls. */
async function crashEverywhere<W>({ arrange, act, check }: Path<W>): Promise<string[]> {
  const whole: Life = { calls: [], at: Number.POSITIVE_INFINITY, end: "down" };
  const undisturbed = await arrange();
  await check(undisturbed, await lives.run(whole, () => act(undisturbed)));
  const cases = range(whole.calls.length).flatMap((at) =>
    (["down", "lost", "error"] as const).map((end) => ({ at, end })),
  );
  await Promise.all(
    cases.map(async ({ at, end }) => {
      const world = await arrange();
      const { status } = await lives.run({ calls: [], at, end }, () => act(world));
      expect(status, `${end} at ${whole.calls[at]}`).toBeGreaterThanOrEqual(500);
      await check(world, await act(world));
    }),
  );
  return whole.calls;
}

const customersOf = ({ email }: User) => service.stripe.customers().filter((customer) => customer.email === email);
const eventsOf = (customer: string) =>
  service.stripe.events.filter(({ data: { object } }) => "customer" in object && object.customer === customer);

describe("a crash at any outgoing call, and the same again", () => {
  it("of a checkout: one customer, one open page, and one subscription once it is paid", async () => {
    const calls = await crashEverywhere({
      arrange: () => shopper(service),
      act: async (user) => (await here.signIn(user)).call("POST", CHECKOUT, { tier: "pro", cadence: "monthly" }, ONCE),
      async check(user, { status, body }) {
        expect(status).toBe(200);
        expect(customersOf(user)).toHaveLength(1);
        expect(await openCheckout(user)).toBe(body["session_id"]);
        await deliverAll(service, ofSubscription(service.stripe.pay(body["session_id"] ?? "")));
        expect(service.stripe.subscriptions(await customerOf(service, user.id))).toHaveLength(1);
        expect(await planOf(service, user.id)).toBe("pro");
      },
    });
    expect(calls.filter((call) => call === "POST /sql").length).toBeGreaterThan(2);
    expect(calls).toEqual(expect.arrayContaining(["POST /v1/customers", "POST /v1/checkout/sessions"]));
  });

  it("of a checkout that replaces another: one open page", async () => {
    const calls = await crashEverywhere({
      async arrange() {
        const user = await shopper(service);
        return { user, left: await openCheckout(user, "team", "yearly") };
      },
      act: async ({ user }) =>
        (await here.signIn(user)).call("POST", CHECKOUT, { tier: "pro", cadence: "monthly" }, ONCE),
      async check({ user, left }, { status, body }) {
        expect([status, body["session_id"]]).toEqual([200, await openCheckout(user)]);
        expect(() => service.stripe.pay(left)).toThrow(/expired/);
      },
    });
    expect(calls.filter((call) => call.endsWith("/expire"))).toHaveLength(1);
  });

  it("of a change of plan: one subscription, invoiced once", async () => {
    const calls = await crashEverywhere({
      arrange: () => subscriber(service),
      act: async ({ user }) =>
        (await here.signIn(user)).call("POST", CHECKOUT, { tier: "team", cadence: "monthly" }, ONCE),
      async check({ user, customer }, { status, body }) {
        expect([status, body["plan"]]).toEqual([200, "team"]);
        const events = eventsOf(customer);
        expect(events.filter(({ type }) => type === "invoice.paid")).toHaveLength(2);
        await deliverAll(service, ofSubscription(events));
        expect([service.stripe.subscriptions(customer).length, await planOf(service, user.id)]).toEqual([1, "team"]);
      },
    });
    expect(calls.some((call) => call.startsWith("POST /v1/subscriptions/"))).toBe(true);
  });

  it("of a change of a plan that was to end: it goes on, invoiced once", async () => {
    const calls = await crashEverywhere({
      async arrange() {
        const paying = await subscriber(service);
        service.stripe.changeSubscription(paying.subscription, { endLater: "portal" });
        return paying;
      },
      act: async ({ user }) =>
        (await here.signIn(user)).call("POST", CHECKOUT, { tier: "team", cadence: "monthly" }, ONCE),
      async check({ user, customer }, { status, body }) {
        expect([status, body["plan"]]).toEqual([200, "team"]);
        const events = eventsOf(customer);
        expect(events.filter(({ type }) => type === "invoice.paid")).toHaveLength(2);
        expect(service.stripe.subscriptions(customer)).toMatchObject([{ cancel_at: null }]);
        await deliverAll(service, ofSubscription(events));
        expect(await planOf(service, user.id)).toBe("team");
      },
    });
    expect(calls.filter((call) => call.startsWith("POST /v1/subscriptions/"))).toHaveLength(2);
  });

  it("of taking back a change that waits for its payment: nobody can pay for it", async () => {
    // One after the other: what the bank demands is for the next payment, whoever makes it.
    let demanded: Promise<unknown> = Promise.resolve();
    const waits = async ({ user }: Awaited<ReturnType<typeof subscriber>>) => {
      service.stripe.demandPayment();
      const { body } = await user.call("POST", CHECKOUT, { tier: "team", cadence: "monthly" });
      expect(body.effective_at).toBeNull();
    };
    const calls = await crashEverywhere({
      async arrange() {
        const paying = await subscriber(service);
        await (demanded = demanded.then(() => waits(paying)));
        return paying;
      },
      act: async ({ user }) =>
        (await here.signIn(user)).call("POST", CHECKOUT, { tier: "pro", cadence: "monthly" }, ONCE),
      async check({ user, customer }, { status, body }) {
        expect([status, body["plan"]]).toEqual([200, "pro"]);
        expect(service.stripe.subscriptions(customer)).toMatchObject([{ pending_update: null }]);
        await deliverAll(service, ofSubscription(eventsOf(customer)));
        expect(await planOf(service, user.id)).toBe("pro");
      },
    });
    expect(calls.filter((call) => call.endsWith("/void"))).toHaveLength(1);
  });

  it("of a cancellation: no subscription is left", async () => {
    const calls = await crashEverywhere({
      arrange: () => subscriber(service),
      act: async ({ user }) => (await here.signIn(user)).call("POST", CANCEL, undefined, ONCE),
      async check({ user, customer }, { status, body }) {
        expect([status, body["code"]]).toBeOneOf([
          [200, undefined],
          [409, "no_subscription"],
        ]);
        await deliverAll(service, ofSubscription(eventsOf(customer)).slice(-1));
        expect(await planOf(service, user.id)).toBe("free");
      },
    });
    expect(calls.some((call) => call.startsWith("DELETE /v1/subscriptions/"))).toBe(true);
  });

  it("of opening the portal: one customer", async () => {
    await crashEverywhere({
      arrange: () => shopper(service),
      act: async (user) => (await here.signIn(user)).call("POST", PORTAL, undefined, ONCE),
      async check(user, { status }) {
        expect([status, customersOf(user).length]).toEqual([200, 1]);
      },
    });
  });

  it.each([
    ["whose customer is known", ""],
    ["whose customer our rows do not know", "delete from billing_customers where user_id = $1 returning user_id"],
  ])("of an event %s: the plan that is paid for", async (_what, forget) => {
    const calls = await crashEverywhere({
      async arrange() {
        const user = await shopper(service);
        const events = service.stripe.pay(await openCheckout(user, "team"));
        if (forget !== "") await service.sql(forget, [user.id]);
        return { user, event: JSON.stringify(events.find(({ type }) => type === "customer.subscription.created")) };
      },
      act: ({ event }) => here.call("POST", WEBHOOK, event, { "stripe-signature": signatureOf(service, event) }),
      async check({ user, event }, { status, body }) {
        expect([status, body["status"]]).toEqual([200, "ok"]);
        expect(await planOf(service, user.id)).toBe("team");
        const replay = await here.call("POST", WEBHOOK, event, { "stripe-signature": signatureOf(service, event) });
        expect(replay.body.deduplicated).toBe(true);
      },
    });
    expect(calls).toHaveLength(forget === "" ? 5 : 6);
  });

  it("of ending a deleted account's payments: nothing can be charged, and the customer is gone", async () => {
    const url = `${service.settings["BASE_URL"]}/queues/cancel-billing`;
    const key = service.settings["QSTASH_CURRENT_SIGNING_KEY"] ?? "";
    const calls = await crashEverywhere({
      async arrange() {
        const { user, customer } = await subscriber(service);
        return { user, customer, message: JSON.stringify({ customer_id: customer }) };
      },
      act: ({ message }) =>
        here.call("POST", "/queues/cancel-billing", message, {
          "upstash-signature": signature(key, url, Buffer.from(message), Math.floor(Date.now() / 1000)),
        }),
      async check({ user, customer }, { status }) {
        expect([status, customersOf(user)]).toEqual([200, []]);
        expect(service.stripe.subscriptions(customer)).toMatchObject([{ status: "canceled" }]);
        await deliverAll(service, ofSubscription(eventsOf(customer)).slice(-1));
      },
    });
    expect(calls.some((call) => call.startsWith("DELETE /v1/customers/"))).toBe(true);
  });
});
