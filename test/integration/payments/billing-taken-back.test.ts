import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startService, type TestService } from "../../stack/service.ts";
import {
  CHECKOUT,
  deliverAll,
  NOTHING_PENDING,
  ofSubscription,
  PENDING,
  planOf,
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

describe("a subscription", () => {
  describe.each(["portal", "dashboard"] as const)("whose end was scheduled in the %s", (endLater) => {
    const ending = async () => {
      const { user, customer, subscription } = await subscriber(service);
      await deliverAll(service, service.stripe.changeSubscription(subscription, { endLater }));
      expect(ends(customer)).toEqual([expect.any(Number), endLater === "dashboard"]);
      return { user, customer, subscription };
    };
    const ends = (customer: string) => {
      const [subscription] = service.stripe.subscriptions(customer);
      return [subscription?.cancel_at, subscription?.cancel_at_period_end];
    };
    const invoices = () => service.stripe.events.filter(({ type }) => type.startsWith("invoice.")).length;

    it("goes on where its own price is asked for, without an invoice, each time anew", async () => {
      const { user, customer, subscription } = await ending();
      const before = invoices();
      for (let turn = 1; turn <= 2; turn += 1) {
        const { body } = await user.call("POST", CHECKOUT, { tier: "pro", cadence: "monthly" });
        expect([body.plan, body.effective_at]).toEqual(["pro", expect.any(String)]);
        expect(ends(customer)).toEqual([null, false]);
        if (turn === 1) service.stripe.changeSubscription(subscription, { endLater });
      }
      expect(invoices()).toBe(before);
      expect(await planOf(service, user.id)).toBe("pro");
    });

    it("goes on at another price, for many requests at once and for one invoice", async () => {
      const { user, customer } = await ending();
      const [before, since] = [invoices(), service.stripe.events.length];
      const answers = await Promise.all(
        range(8).map(() => user.call("POST", CHECKOUT, { tier: "team", cadence: "monthly" })),
      );
      expect(tally(answers)).toEqual({ 200: 8 });
      expect(ends(customer)).toEqual([null, false]);
      expect(invoices()).toBe(before + 1);
      await deliverAll(service, ofSubscription(service.stripe.events.slice(since)));
      expect(await planOf(service, user.id)).toBe("team");
    });

    it("goes on while a change waits for its payment, and after that, also where it was scheduled in between", async () => {
      const { user, customer, subscription } = await ending();
      const since = service.stripe.events.length;
      service.stripe.demandPayment();
      for (let turn = 1; turn <= 2; turn += 1) {
        const { body } = await user.call("POST", CHECKOUT, { tier: "team", cadence: "monthly" });
        expect([body.effective_at, ...ends(customer)]).toEqual([null, null, false]);
        if (turn === 1) service.stripe.changeSubscription(subscription, { endLater });
      }
      service.stripe.changeSubscription(subscription, { pendingUpdate: "applied" });
      expect(ends(customer)).toEqual([null, false]);
      await deliverAll(service, ofSubscription(service.stripe.events.slice(since)));
      expect(await planOf(service, user.id)).toBe("team");
    });
  });

  it("whose change waits for its payment gives it up where its own price is asked for", async () => {
    const { user, customer, subscription } = await subscriber(service);
    const since = service.stripe.events.length;
    // A second time as well: the first time's answers are kept by the provider for a day.
    for (let turn = 1; turn <= 2; turn += 1) {
      service.stripe.demandPayment();
      expect((await user.call("POST", CHECKOUT, { tier: "team", cadence: "monthly" })).body.effective_at).toBeNull();
      expect((await user.call("GET", PENDING)).body.pending).toBe(true);
      const answers = await Promise.all(
        range(4).map(() => user.call("POST", CHECKOUT, { tier: "pro", cadence: "monthly" })),
      );
      expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
      for (const { status, body } of answers)
        expect([status, body.code]).toBeOneOf([
          [200, undefined],
          [409, "payment_in_progress"],
        ]);
      expect((await user.call("GET", PENDING)).body).toEqual(NOTHING_PENDING);
      expect(service.stripe.subscriptions(customer)).toMatchObject([{ id: subscription, pending_update: null }]);
      expect(() => service.stripe.changeSubscription(subscription, { pendingUpdate: "applied" })).toThrow(/pending/);
    }
    await deliverAll(service, ofSubscription(service.stripe.events.slice(since)));
    expect(await planOf(service, user.id)).toBe("pro");
  });

  it("whose waiting change is paid while it is given up has it, and goes back when asked again", async () => {
    const { user, customer, subscription } = await subscriber(service);
    const since = service.stripe.events.length;
    service.stripe.demandPayment();
    await user.call("POST", CHECKOUT, { tier: "team", cadence: "monthly" });
    const paidMeanwhile: typeof fetch = async (input, init) => {
      if (new URL(input instanceof Request ? input.url : input).pathname.endsWith("/void"))
        service.stripe.changeSubscription(subscription, { pendingUpdate: "applied" });
      return fetch(input, init);
    };
    const back = { tier: "pro", cadence: "monthly" };
    const here = await variant(service, {}, { fetch: paidMeanwhile }).signIn(user);
    const refused = await here.call("POST", CHECKOUT, back);
    expect([refused.status, refused.body.code, refused.headers.get("retry-after")]).toEqual([
      409,
      "payment_in_progress",
      "2",
    ]);
    const { body } = await user.call("POST", CHECKOUT, back);
    expect([body.plan, body.effective_at]).toEqual(["pro", expect.any(String)]);
    expect(service.stripe.subscriptions(customer)[0]?.items.data[0]?.price.id).toBe(
      service.settings["STRIPE_PRICE_PRO_MONTHLY"],
    );
    await deliverAll(service, ofSubscription(service.stripe.events.slice(since)));
    expect(await planOf(service, user.id)).toBe("pro");
  });
});
