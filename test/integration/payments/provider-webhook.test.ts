import * as fc from "fast-check";
import type Stripe from "stripe";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { caller, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  CHECKOUT,
  customerOf,
  deliverAll,
  isNoted,
  ofSubscription,
  payer,
  planOf,
  shopper,
  signatureOf,
  variant,
  WEBHOOK,
} from "./billing-support.ts";
import { assertMoney, paidPlan } from "./money-support.ts";
import { range, tally } from "../runs/support.ts";

const TOLERANCE_S = 300;

let service: TestService;
let clock = Date.now();

beforeAll(async () => {
  service = await startService({ stripe: true, overrides: { now: () => new Date(clock) } });
});

beforeEach(() => {
  clock = Date.now();
});

afterAll(async () => {
  await assertMoney(service);
  expect(service.stripe.refused).toEqual([]);
  await service.stop();
});

/** An event that the provider might send, of an object of our choice. */
const madeUp = (fields: object): Stripe.Event =>
  ({
    id: `evt_${Math.random().toString(36).slice(2)}`,
    object: "event",
    type: "customer.subscription.updated",
    livemode: false,
    created: 1,
    data: { object: {} },
    ...fields,
  }) as Stripe.Event;

/** What the customer or the provider does; nothing where it can't be done now. */
async function carryOut(user: User, what: string): Promise<void> {
  if (what.startsWith("buy ")) {
    const { body } = await user.call("POST", CHECKOUT, { tier: what.slice(4), cadence: "monthly" });
    if (body.kind === "checkout") service.stripe.pay(body.session_id);
    return;
  }
  const live = service.stripe
    .subscriptions(await customerOf(service, user.id))
    .find(({ status }) => status !== "canceled");
  if (live === undefined) return;
  if (what === "cancel") service.stripe.changeSubscription(live.id, { cancel: true });
  else if (what === "portal")
    service.stripe.changeSubscription(live.id, { price: service.settings["STRIPE_PRICE_TEAM_MONTHLY"] ?? "" });
  else service.stripe.changeSubscription(live.id, { status: what });
}

describe("a delivery", () => {
  it.each<[string, (event: Stripe.Event) => Parameters<TestService["stripe"]["deliver"]>[1]]>([
    ["without a signature", () => ({ signature: null })],
    ["with an empty signature", () => ({ signature: "" })],
    ["with a signature that is none", () => ({ signature: "v1=abc" })],
    ["with another secret's signature", () => ({ secret: "whsec_another" })],
    ["signed 301 seconds ago", () => ({ timestamp: Math.floor(clock / 1000) - TOLERANCE_S - 1 })],
    [
      "whose body was changed on its way",
      (event) => ({
        signature: signatureOf(service, JSON.stringify(event)),
        body: JSON.stringify({ ...event, created: 1 }),
      }),
    ],
  ])("%s is refused and does nothing", async (_what, how) => {
    const { user, created } = await payer(service);
    const { status, body } = await service.stripe.deliver(created, how(created));
    expect([status, body.code]).toEqual([400, "invalid_signature"]);
    expect([await planOf(service, user.id), await isNoted(service, created)]).toEqual(["free", false]);
    await deliverAll(service, [created]);
  });

  it("is taken until 300 seconds after it was signed", async () => {
    const { created } = await payer(service);
    const timestamp = Math.floor(clock / 1000) - TOLERANCE_S;
    expect((await service.stripe.deliver(created, { timestamp })).status).toBe(200);
  });

  it.each([
    "{",
    "null",
    "[]",
    "{}",
    '{"id":"evt_1","type":"x","livemode":false,"data":{}}',
    '{"id":"evt_1","object":"v2.core.event","type":"v1.charge.refunded","livemode":false,"related_object":{"id":"ch_1"}}',
  ])("of the signed body %s is 400", async (body) => {
    const answer = await service.stripe.deliver(madeUp({}), { body });
    expect([answer.status, answer.body.code]).toEqual([400, "malformed_json"]);
    expect(answer.body.detail).toContain("payload style at the provider to snapshot, not thin");
  });

  it("of more than 256 KiB is 413, signed or not", async () => {
    const large = madeUp({ data: { object: { text: "x".repeat(256 * 1024) } } });
    const { status, body } = await service.stripe.deliver(large);
    expect([status, body.code]).toEqual([413, "payload_too_large"]);
  });

  it("is 503 where no secret is set", async () => {
    const { created } = await payer(service);
    const body = JSON.stringify(created);
    const secretless = variant(service, { STRIPE_WEBHOOK_SECRET: "" });
    const answer = await secretless.call("POST", WEBHOOK, body, { "stripe-signature": signatureOf(service, body) });
    expect([answer.status, answer.body.code]).toEqual([503, "payment_not_configured"]);
    await deliverAll(service, [created]);
  });

  it("is taken by any of the secrets that are set, and by no other", async () => {
    const event = madeUp({});
    const body = JSON.stringify(event);
    const both = variant(service, { STRIPE_WEBHOOK_SECRET: "whsec_own, whsec_connected" });
    const answers = [];
    for (const secret of ["whsec_connected", "whsec_own", "whsec_own, whsec_connected", "whsec_fake"])
      answers.push(
        await both.call("POST", WEBHOOK, body, { "stripe-signature": signatureOf(service, body, { secret }) }),
      );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 400]);
  });

  it("is limited by nothing: the provider comes from few addresses", async () => {
    const answer = await caller(service).call("POST", WEBHOOK, {});
    expect([answer.status, answer.headers.get("ratelimit")]).toEqual([400, null]);
  });

  it("of a type that nothing is done about is acknowledged, and known when it comes again", async () => {
    const event = madeUp({ type: "customer.discount.created" });
    const first = await service.stripe.deliver(event);
    expect([first.status, first.body]).toEqual([
      200,
      { status: "ok", event_type: "customer.discount.created", deduplicated: false },
    ]);
    expect((await service.stripe.deliver(event)).body.deduplicated).toBe(true);
  });
});

describe("an event", () => {
  /** What makes an event of each type, of a subscription that pays for Pro. */
  const causes: Record<string, (id: string, user: User) => Stripe.Event[] | Promise<Stripe.Event[]>> = {
    updated: (id) =>
      service.stripe.changeSubscription(id, { price: service.settings["STRIPE_PRICE_TEAM_YEARLY"] ?? "" }),
    deleted: (id) => service.stripe.changeSubscription(id, { cancel: true }),
    pending_update_applied: async (id, user) => {
      await askForTeam(user);
      return service.stripe.changeSubscription(id, { pendingUpdate: "applied" });
    },
    pending_update_expired: async (id, user) => {
      await askForTeam(user);
      return service.stripe.changeSubscription(id, { pendingUpdate: "expired" });
    },
  };

  async function askForTeam(user: User): Promise<void> {
    service.stripe.demandPayment();
    await user.call("POST", CHECKOUT, { tier: "team", cadence: "monthly" });
  }

  it.each([
    ["created", "pro"],
    ["updated", "team"],
    ["deleted", "free"],
    ["pending_update_applied", "team"],
    ["pending_update_expired", "pro"],
  ])("customer.subscription.%s that comes 50 times at once is done once, and known ever after", async (name, plan) => {
    const { user, customer, events } = await payer(service);
    const [{ id }] = service.stripe.subscriptions(customer) as [Stripe.Subscription];
    const caused = (await causes[name]?.(id, user)) ?? events;
    const type = `customer.subscription.${name}`;
    const event = caused.find((one) => one.type === type) as Stripe.Event;
    const answers = await Promise.all(range(50).map(() => service.stripe.deliver(event)));
    expect(tally(answers)).toEqual({ 200: 50 });
    expect(answers.filter(({ body }) => body.deduplicated === false)).toHaveLength(1);
    expect(await planOf(service, user.id)).toBe(plan);
    expect(await service.sql("select from billing_customers where customer_id = $1", [customer])).toHaveLength(1);
    const asked = service.stripe.requests.length;
    expect((await service.stripe.deliver(event)).body).toEqual({ status: "ok", event_type: type, deduplicated: true });
    expect(service.stripe.requests).toHaveLength(asked);
  });

  it("that was read before another never overrides what that one wrote", async () => {
    const { user, customer, created } = await payer(service, "team");
    const gate = Promise.withResolvers<undefined>();
    const hasRead = Promise.withResolvers<undefined>();
    const slow = variant(
      service,
      {},
      {
        now: () => new Date(clock),
        fetch: async (input, init) => {
          const response = await fetch(input, init);
          hasRead.resolve(undefined);
          await gate.promise;
          return response;
        },
      },
    );
    const body = JSON.stringify(created);
    const late = slow.call("POST", WEBHOOK, body, { "stripe-signature": signatureOf(service, body) });
    await hasRead.promise;
    const [{ id }] = service.stripe.subscriptions(customer) as [Stripe.Subscription];
    await deliverAll(service, service.stripe.changeSubscription(id, { cancel: true }));
    gate.resolve(undefined);
    expect((await late).status).toBe(200);
    expect(await planOf(service, user.id)).toBe("free");
  });

  it.each(["bought", "raised", "ended"] as const)(
    "among three of a subscription that was %s counts in no order",
    async (end) => {
      const orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
      ];
      for (const order of orders) {
        const { user, customer, events } = await payer(service);
        const [{ id }] = service.stripe.subscriptions(customer) as [Stripe.Subscription];
        const more = {
          bought: { status: "past_due" },
          raised: { price: service.settings["STRIPE_PRICE_TEAM_YEARLY"] ?? "" },
          ended: { cancel: true },
        };
        const all = [...events, ...ofSubscription(service.stripe.changeSubscription(id, more[end]))];
        expect(all).toHaveLength(3);
        for (const at of order) await deliverAll(service, [all[at] as Stripe.Event]);
        expect(await planOf(service, user.id)).toBe({ bought: "pro", raised: "team", ended: "free" }[end]);
      }
    },
  );

  it("of any history, in any order and number, leaves the plan that the provider says", async () => {
    const doing = fc.record({
      what: fc.constantFrom(
        "buy pro",
        "buy team",
        "portal",
        "cancel",
        "active",
        "past_due",
        "unpaid",
        "paused",
        "trialing",
      ),
      tellNow: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(doing, { minLength: 1, maxLength: 7 }),
        fc.infiniteStream(fc.nat(1000)),
        async (history, dice) => {
          const user = await shopper(service);
          const untold: Stripe.Event[] = [];
          const pick = (): Stripe.Event[] => untold.splice((dice.next().value ?? 0) % untold.length, 1);
          for (const { what, tellNow } of history) {
            const before = service.stripe.events.length;
            await carryOut(user, what);
            untold.push(...ofSubscription(service.stripe.events.slice(before)));
            if (tellNow && untold.length > 0) await deliverAll(service, pick());
          }
          while (untold.length > 0) {
            const some = [...pick(), ...(untold.length > 0 ? pick() : [])];
            await Promise.all([...some, ...some].map((event) => deliverAll(service, [event])));
          }
          const customer = await customerOf(service, user.id);
          expect(await planOf(service, user.id)).toBe(paidPlan(service, service.stripe.subscriptions(customer)));
        },
      ),
      { numRuns: 10 },
    );
  });
});
