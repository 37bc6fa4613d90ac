import type Stripe from "stripe";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  customerOf,
  deliverAll,
  isNoted,
  ofSubscription,
  openCheckout,
  payer,
  planOf,
  shopper,
  signatureOf,
  subscriber,
  variant,
  WEBHOOK,
} from "./billing-support.ts";
import { assertMoney } from "./money-support.ts";
import { range } from "../runs/support.ts";

const DAY = 86_400_000;

let service: TestService;
/** Ahead of the machine's clock by this, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  service = await startService({ stripe: true, overrides: { now: () => new Date(Date.now() + ahead) } });
});

beforeEach(() => {
  ahead = 0;
});

afterAll(async () => {
  await assertMoney(service);
  expect(service.stripe.refused).toEqual([]);
  await service.stop();
});

describe("an event", () => {
  it("leaves an enterprise contract alone", async () => {
    const { user, customer, events } = await payer(service);
    await service.sql("update users set plan = 'enterprise' where id = $1", [user.id]);
    await deliverAll(service, events);
    const [{ id }] = service.stripe.subscriptions(customer) as [Stripe.Subscription];
    await deliverAll(service, service.stripe.changeSubscription(id, { cancel: true }));
    expect(await planOf(service, user.id)).toBe("enterprise");
  });

  it("of a dispute that was lost ends what was paid for, and one that was won does not", async () => {
    const { user, customer, subscription } = await subscriber(service);
    await deliverAll(service, service.stripe.dispute({ customer }, "won"));
    expect(service.stripe.subscriptions(customer)[0]?.status).toBe("active");
    const [lost] = service.stripe.dispute({ customer }, "lost") as [Stripe.Event];
    const before = service.stripe.events.length;
    await deliverAll(service, [lost]);
    expect(service.stripe.subscriptions(customer)).toMatchObject([{ id: subscription, status: "canceled" }]);
    await deliverAll(service, service.stripe.events.slice(before));
    expect(await planOf(service, user.id)).toBe("free");
  });

  it("of a renewal that is not paid is told by mail once, and so is the end of the plan", async () => {
    const { user, subscription } = await subscriber(service, "team");
    const heard = async (change: Parameters<typeof service.stripe.changeSubscription>[1]) => {
      const events = service.stripe.changeSubscription(subscription, change);
      // Each may come twice, and side by side.
      await Promise.all([...events, ...events].map((event) => service.stripe.deliver(event)));
      await deliverAll(service, events);
      await service.settled();
      const mails = service.mailbox.list(user.email);
      service.mailbox.clear();
      return mails.map(({ subject, text }) => [subject, ...(/^The (?:renewal|subscription) .*\.$/m.exec(text) ?? [])]);
    };
    const unpaid = [["The renewal of your plan was not paid", "The renewal of your plan team could not be paid."]];
    const smaller = (reason: string) => [["Your plan became smaller", reason]];
    expect(await heard({ status: "past_due" })).toEqual(unpaid);
    expect(await heard({ status: "active" }), "it was paid").toEqual([]);
    expect(await heard({ status: "past_due" }), "another month").toEqual(unpaid);
    expect(await heard({ status: "unpaid" })).toEqual(smaller("The renewal of the plan team was not paid."));
    expect(await heard({ status: "active" })).toEqual([]);
    expect(await heard({ cancel: true })).toEqual(smaller("The subscription to the plan team is over."));
  });

  it("of a price that no setting names leaves the plan that there is", async () => {
    const { user, subscription, customer } = await subscriber(service);
    const [before] = service.stripe.changeSubscription(subscription, { status: "past_due" });
    const renamed = variant(service, { STRIPE_PRICE_PRO_MONTHLY: "price_new" });
    const body = JSON.stringify(before);
    const answer = await renamed.call("POST", WEBHOOK, body, { "stripe-signature": signatureOf(service, body) });
    expect([answer.status, await planOf(service, user.id)]).toEqual([200, "pro"]);
    const [row] = await service.sql("select subscription_status from billing_customers where customer_id = $1", [
      customer,
    ]);
    expect(row).toEqual({ subscription_status: "past_due" });
  });

  it("counts the better of two subscriptions in force", async () => {
    const { user, customer, subscription } = await subscriber(service, "team");
    await deliverAll(service, service.stripe.changeSubscription(subscription, { status: "paused" }));
    await deliverAll(service, ofSubscription(service.stripe.pay(await openCheckout(user, "pro"))));
    expect([await planOf(service, user.id), service.stripe.subscriptions(customer).length]).toEqual(["pro", 2]);
    await deliverAll(service, service.stripe.changeSubscription(subscription, { status: "active" }));
    expect(await planOf(service, user.id)).toBe("team");
    await deliverAll(service, service.stripe.changeSubscription(subscription, { cancel: true }));
    expect(await planOf(service, user.id)).toBe("pro");
  });

  it("finds the account by its customer's metadata where our row was lost", async () => {
    const { user, customer, created } = await payer(service, "team");
    await service.sql("delete from billing_customers where user_id = $1", [user.id]);
    await deliverAll(service, [created]);
    expect([await planOf(service, user.id), await customerOf(service, user.id)]).toEqual(["team", customer]);
  });

  it("of a second customer that names the account does not touch its plan", async () => {
    const [{ user }, other] = [await subscriber(service, "team"), await payer(service)];
    await service.sql("delete from billing_customers where user_id = $1", [other.user.id]);
    await fetch(`${service.stripe.url}/v1/customers/${other.customer}`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.settings["STRIPE_SECRET_KEY"]}` },
      body: new URLSearchParams({ "metadata[user_id]": user.id }),
    });
    await deliverAll(service, [other.created]);
    expect([await planOf(service, user.id), await planOf(service, other.user.id)]).toEqual(["team", "free"]);
  });

  it.each([
    ["a connected account", { account: "acct_1" }, true],
    ["the other mode", { livemode: true }, false],
  ])("of %s changes no plan", async (_what, fields, noted) => {
    const { user, created } = await payer(service);
    const foreign = { ...created, id: `${created.id}_x`, ...fields } as Stripe.Event;
    expect((await service.stripe.deliver(foreign)).status).toBe(200);
    expect([await planOf(service, user.id), await isNoted(service, foreign)]).toEqual(["free", noted]);
    await deliverAll(service, [created]);
  });

  it("is not noted while its work fails, so that it comes again", async () => {
    const { user, created } = await payer(service);
    service.faults.set({ service: "provider", mode: "down", count: 2 });
    expect((await service.stripe.deliver(created)).status).toBe(503);
    expect(await isNoted(service, created)).toBe(false);
    expect((await service.stripe.deliver(created)).body.deduplicated).toBe(false);
    expect(await planOf(service, user.id)).toBe("pro");
  });
});

describe("events that never came", () => {
  const night = () => service.app.scheduled(DAILY);

  it("are made up for in the night, and nothing is done again", async () => {
    const [lost, known] = [await payer(service), await payer(service, "team")];
    await deliverAll(service, known.events);
    const before = service.stripe.requests.length;
    await night();
    expect(await planOf(service, lost.user.id)).toBe("pro");
    for (const event of lost.events) expect(await isNoted(service, event)).toBe(true);
    const asked = service.stripe.requests.slice(before).map(({ params }) => params["customer"]);
    expect(asked).not.toContain(known.customer);
    const after = service.stripe.requests.length;
    await night();
    expect(service.stripe.requests.slice(after).map(({ path }) => path)).toEqual(["/v1/events"]);
  });

  it("are each tried: one that fails holds no other up, and is done the night after", async () => {
    const lost = [await payer(service), await payer(service, "team")];
    service.faults.set({ service: "provider", mode: "error", path: "GET /v1/subscriptions", count: 2 });
    await night();
    const events = lost.flatMap((one) => one.events);
    const noted = await Promise.all(events.map((event) => isNoted(service, event)));
    expect(noted).toEqual(events.map((_event, at) => at > 0));
    await night();
    expect(await isNoted(service, events[0] as Stripe.Event)).toBe(true);
    expect(await Promise.all(lost.map(({ user }) => planOf(service, user.id)))).toEqual(["pro", "team"]);
  });

  it("are found behind a page of events that are done", async () => {
    const [lost, busy] = [await payer(service), await subscriber(service)];
    const statuses = ["past_due", "active"];
    const done = range(110).flatMap((n) =>
      service.stripe.changeSubscription(busy.subscription, { status: statuses[n % 2] ?? "" }),
    );
    await service.sql("insert into provider_events (id, type) select unnest($1::text[]), 'x'", [
      done.map(({ id }) => id),
    ]);
    await night();
    expect(await planOf(service, lost.user.id)).toBe("pro");
  });

  const lastDone = (days: number) =>
    service.sql("update daily_work set last_success_at = now() + make_interval(days => $1) where name = $2", [
      days,
      "reconcile payments",
    ]);

  it.each([
    ["since three days before", 3 * DAY + 60_000, 3, "free"],
    ["since nobody looked for them, as in an outage of nine days", 9 * DAY, 0, "pro"],
    ["for as long as the provider lists them, thirty days", 30 * DAY + 60_000, 0, "free"],
  ])("are looked for %s", async (_since, later, done, plan) => {
    const { user } = await payer(service);
    ahead = later;
    await lastDone(done);
    await night();
    expect(await planOf(service, user.id)).toBe(plan);
  });

  it("are tried every night until they are done, however many that takes", async () => {
    const { user } = await payer(service);
    await lastDone(0);
    service.faults.set({ service: "provider", mode: "error", path: "GET /v1/subscriptions" });
    for (const days of [1, 4]) {
      ahead = days * DAY;
      await night();
    }
    expect(await planOf(service, user.id)).toBe("free");
    service.faults.set({ service: "provider", mode: "none" });
    await night();
    expect(await planOf(service, user.id)).toBe("pro");
  });

  it("that were done are known for sixty days", async () => {
    const { events } = await payer(service);
    await deliverAll(service, events);
    const [old, young] = events as [Stripe.Event, Stripe.Event];
    const age = (event: Stripe.Event, days: number) =>
      service.sql("update provider_events set done_at = now() - make_interval(days => $2) where id = $1", [
        event.id,
        days,
      ]);
    await age(old, 61);
    await age(young, 59);
    ahead = 4 * DAY;
    await night();
    expect([await isNoted(service, old), await isNoted(service, young)]).toEqual([false, true]);
  });
});

describe("an account that is deleted", () => {
  const deleteAccount = async (id: string): Promise<void> => {
    await service.sql("update users set deletion_scheduled_for = now() - interval '1 day' where id = $1", [id]);
    await service.app.scheduled(DAILY);
    await service.settled();
  };

  it("can't be charged any more: its subscription, open checkouts and customer end, and nobody else's", async () => {
    const [leaving, staying, looking] = [await subscriber(service), await subscriber(service), await shopper(service)];
    const session = await openCheckout(looking);
    const customer = await customerOf(service, looking.id);
    await deleteAccount(leaving.user.id);
    await deleteAccount(looking.id);
    const left = service.stripe.customers().map(({ id }) => id);
    expect(left).toContain(staying.customer);
    expect(left).not.toContain(leaving.customer);
    expect(left).not.toContain(customer);
    expect(() => service.stripe.pay(session)).toThrow(/expired/);
    expect(service.stripe.subscriptions(leaving.customer)).toMatchObject([{ status: "canceled" }]);
    expect(service.stripe.subscriptions(staying.customer)).toMatchObject([{ status: "active" }]);
    expect([await customerOf(service, leaving.user.id), await customerOf(service, looking.id)]).toEqual([
      "none",
      "none",
    ]);
    const late = ofSubscription(service.stripe.events).filter(
      ({ data: { object } }) => (object as Stripe.Subscription).customer === leaving.customer,
    );
    await deliverAll(service, late);
    expect([await planOf(service, leaving.user.id), await customerOf(service, leaving.user.id)]).toEqual([
      "free",
      "none",
    ]);
  });

  it("gets no plan from a payment that comes too late: the subscription is cancelled", async () => {
    const { user, customer, created } = await payer(service);
    await service.sql("delete from billing_customers where user_id = $1", [user.id]);
    await service.sql("update users set email = 'Deleted-' || id || '@deleted.invalid' where id = $1", [user.id]);
    await deliverAll(service, [created]);
    expect([await planOf(service, user.id), await customerOf(service, user.id)]).toEqual(["free", "none"]);
    expect(service.stripe.subscriptions(customer)).toMatchObject([{ status: "canceled" }]);
  });
});
