import { randomUUID } from "node:crypto";
import type Stripe from "stripe";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { type Answer, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  CANCEL,
  CHECKOUT,
  customerOf,
  deliverAll,
  isNoted,
  NOTHING_PENDING,
  ofSubscription,
  openCheckout,
  PENDING,
  planOf,
  PORTAL,
  shopper,
  subscriber,
} from "./billing-support.ts";
import { buy } from "./certify-support.ts";
import {
  accountOf,
  addListing,
  begin,
  enable,
  hire,
  newSeller,
  PURCHASES,
  readPurchase,
  SELLER,
  sessionOf,
} from "./marketplace-support.ts";
import { addAgent, range, tally, unique } from "../runs/support.ts";

const OFFER = { tier: "team", cadence: "yearly" };
/** Of an agent that nobody calls. */
const endpoint = "http://127.0.0.1:9/";

let service: TestService;

beforeAll(async () => {
  service = await startService({ stripe: true });
});

afterAll(() => service.stop());

/** Somebody deletes a customer in the provider's dashboard; returns the events of it. */
async function deleteCustomer(id: string): Promise<Stripe.Event[]> {
  const before = service.stripe.events.length;
  const headers = { authorization: `Bearer ${service.settings["STRIPE_SECRET_KEY"]}` };
  await fetch(`${service.stripe.url}/v1/customers/${id}`, { method: "DELETE", headers });
  return service.stripe.events.slice(before);
}

const told = (eventId: string) =>
  service.logs
    .map((line) => JSON.parse(line))
    .filter((line) => line.event_id === eventId && line.object_id !== undefined);

describe("an event about something that the provider does not know", () => {
  it.each<[Stripe.Event.Type, object]>([
    ["customer.subscription.updated", { id: "sub_gone", customer: "cus_gone" }],
    ["customer.subscription.deleted", { id: "sub_gone", customer: "cus_gone" }],
    [
      "checkout.session.completed",
      { id: "cs_gone", metadata: { kind: "certification", certification_id: randomUUID() } },
    ],
    ["checkout.session.expired", { id: "cs_gone", metadata: { kind: "purchase", purchase_id: randomUUID() } }],
    ["charge.refunded", { id: "ch_gone" }],
    ["account.updated", { id: "acct_gone" }],
  ])("is noted, acknowledged and told to the log: %s", async (type, object) => {
    const seller = await shopper(service);
    await service.sql(
      `insert into seller_accounts (user_id, account_id) values ($1, 'acct_gone')
       on conflict (account_id) do nothing`,
      [seller.id],
    );
    const event = { id: unique("evt").replace(" ", "_"), type, livemode: false, data: { object } } as Stripe.Event;
    expect(await service.stripe.deliver(event)).toMatchObject({ status: 200, body: { deduplicated: false } });
    expect(await isNoted(service, event)).toBe(true);
    expect(told(event.id)).toMatchObject([
      { level: "warn", event_type: type, object_id: (object as { id: string }).id },
    ]);
    expect(await service.stripe.deliver(event)).toMatchObject({ status: 200, body: { deduplicated: true } });
    expect(told(event.id)).toHaveLength(1);
  });

  it("is one thing, a provider that fails another: that is neither noted nor acknowledged", async () => {
    const object = { id: "ch_gone" };
    const event = { id: unique("evt"), type: "charge.refunded", livemode: false, data: { object } } as Stripe.Event;
    service.faults.set({ service: "provider", mode: "error", path: "GET /v1/charges/ch_gone" });
    expect((await service.stripe.deliver(event)).status).toBe(503);
    service.faults.set({ service: "provider", mode: "none" });
    expect(await isNoted(service, event)).toBe(false);
  });
});

describe("a customer that was deleted in the provider's dashboard", () => {
  it("gives way to one new one at the next checkout, however many ask, and ends the plan that it paid for", async () => {
    const { user, customer } = await subscriber(service);
    const late = await deleteCustomer(customer);
    const answers = await Promise.all(range(8).map(() => user.call("POST", CHECKOUT, OFFER)));
    expect(tally(answers)).toEqual({ 200: 8 });
    expect(new Set(answers.map(({ body }) => body.session_id)).size).toBe(1);
    expect(service.stripe.customers().filter(({ email }) => email === user.email)).toHaveLength(1);
    expect(await planOf(service, user.id)).toBe("free");
    await deliverAll(service, service.stripe.pay(answers[0]?.body.session_id));
    // What comes late of the one that is gone changes nothing any more.
    await deliverAll(service, ofSubscription(late));
    expect([await planOf(service, user.id), await customerOf(service, user.id)]).toEqual([
      "team",
      service.stripe.customers().find(({ email }) => email === user.email)?.id,
    ]);
  });

  it("ends the plan that it paid for, by the event of its subscription", async () => {
    const { user, customer } = await subscriber(service);
    await deliverAll(service, ofSubscription(await deleteCustomer(customer)));
    expect(await planOf(service, user.id)).toBe("free");
  });

  it("gives way in the portal, too, and takes no plan that it did not pay for", async () => {
    const user = await shopper(service, "team");
    await user.call("POST", PORTAL);
    const customer = await customerOf(service, user.id);
    await deleteCustomer(customer);
    expect(await user.call("POST", PORTAL)).toMatchObject({ status: 200, body: { kind: "portal" } });
    expect(await customerOf(service, user.id)).not.toBe(customer);
    expect(await planOf(service, user.id)).toBe("team");
  });

  it.each(["deleted", "unknown"])(
    "or %s pays for nothing: there is nothing to cancel, and nothing pending",
    async (how) => {
      const { user, customer } = await subscriber(service);
      if (how === "deleted") await deleteCustomer(customer);
      await service.sql(
        "update billing_customers set customer_id = $2, subscription_id = $3 where user_id = $1 and $4 = 'unknown'",
        [user.id, unique("cus"), unique("sub"), how],
      );
      expect(await user.call("POST", CANCEL)).toMatchObject({ status: 409, body: { code: "no_subscription" } });
      expect((await user.call("GET", PENDING)).body).toEqual(NOTHING_PENDING);
      expect((await user.call("POST", CHECKOUT, OFFER)).status).toBe(200);
      // Only of a deletion is it known that nothing is paid any more.
      expect(await planOf(service, user.id)).toBe(how === "deleted" ? "free" : "pro");
    },
  );
});

describe("a seller's account that was deleted in the provider's dashboard", () => {
  it("gives way to one new one that has still to be onboarded, however many ask", async () => {
    const seller = await newSeller(service);
    const gone = unique("acct").replace(" ", "_");
    await service.sql("update seller_accounts set account_id = $2 where user_id = $1", [seller.id, gone]);
    const answers = await Promise.all(range(6).map(() => seller.call("POST", SELLER)));
    expect(tally(answers)).toEqual({ 200: 6 });
    const account = await accountOf(service, seller);
    for (const { body } of answers) {
      expect(body).toEqual({ url: expect.stringContaining(account), charges_enabled: false, payouts_enabled: false });
    }
    expect(account).not.toBe(gone);
    expect((await seller.call("GET", "/api/v1/auth/me")).body).toMatchObject({
      charges_enabled: false,
      payouts_enabled: false,
    });
    await enable(service, seller);
    expect((await seller.call("POST", SELLER)).body).toMatchObject({ charges_enabled: true, payouts_enabled: true });
    expect(await accountOf(service, seller)).toBe(account);
    await begin(await newUser(service), (await addListing(seller)).id);
  });
});

describe("a purchase from a seller whom the provider can't pay any more", () => {
  const statesOf = (listing: string) =>
    service.sql("select distinct status, checkout_session_id, checkout_url from purchases where listing_id = $1", [
      listing,
    ]);
  const NOTHING = [{ status: "FAILED", checkout_session_id: null, checkout_url: null }];
  const refused = (answers: readonly Answer[], status: number) =>
    answers.filter((answer) => answer.status === status).map(({ body }) => body.code);

  it("is refused while the account is gone, whoever asks, and is one again once the seller is onboarded anew", async () => {
    const [seller, buyer, other] = [await newSeller(service), await newUser(service), await newUser(service)];
    const listing = await addListing(seller);
    await service.sql("update seller_accounts set account_id = $2 where user_id = $1", [seller.id, unique("acct")]);
    const before = service.stripe.events.length;
    const keyed = { "idempotency-key": unique("key").replace(" ", "_") };
    const ask = (who: User, headers = {}) => who.call("POST", PURCHASES, { listing_id: listing.id }, headers);
    const answers = await Promise.all([ask(buyer, keyed), ...range(3).flatMap(() => [ask(buyer), ask(other)])]);
    // Who asks after the first refusal finds nothing on offer.
    expect([...refused(answers, 409), ...refused(answers, 404)]).toHaveLength(answers.length);
    expect(new Set(refused(answers, 409))).toEqual(new Set(["seller_not_ready"]));
    expect((await ask(buyer, keyed)).status).toBe(answers[0]?.status);
    expect(await statesOf(listing.id)).toEqual(NOTHING);
    expect(service.stripe.events).toHaveLength(before);
    expect((await seller.call("GET", "/api/v1/auth/me")).body).toMatchObject({
      charges_enabled: false,
      payouts_enabled: false,
    });
    expect((await ask(buyer)).status).toBe(404);

    await seller.call("POST", SELLER);
    await enable(service, seller);
    expect((await hire(service, buyer, listing.id)).status).toBe("COMPLETED");
  });

  it("is refused while the account may take no transfers", async () => {
    const [seller, buyer] = [await newSeller(service), await newUser(service)];
    const listing = await addListing(seller);
    // The provider has restricted the account, and the event that says so is late.
    const late = service.stripe.onboard(await accountOf(service, seller), {
      charges_enabled: false,
      payouts_enabled: false,
    });
    const answer = await buyer.call("POST", PURCHASES, { listing_id: listing.id });
    expect(answer).toMatchObject({ status: 409, body: { code: "seller_not_ready" } });
    expect(await statesOf(listing.id)).toEqual(NOTHING);
    await deliverAll(service, late);
    expect((await buyer.call("POST", PURCHASES, { listing_id: listing.id })).status).toBe(404);
  });
});

describe("a checkout that the provider does not know any more", () => {
  it("gives way to a new one, of a certification and of a purchase", async () => {
    const [owner, seller] = [await newUser(service), await newSeller(service)];
    const agent = await addAgent(owner, { endpoint });
    const listing = await addListing(seller);
    const [{ body: first }, purchase] = [await buy(owner, agent), await begin(owner, listing.id)];
    await service.sql("update certifications set checkout_session_id = 'cs_gone' where agent_id = $1", [agent]);
    await service.sql("update purchases set checkout_session_id = 'cs_gone' where id = $1", [purchase.id]);
    const { status, body } = await buy(owner, agent);
    expect([status, body.certification_id === first.certification_id]).toEqual([200, false]);
    expect((await begin(owner, listing.id)).id).not.toBe(purchase.id);
    expect((await readPurchase(owner, purchase)).status).toBe("FAILED");
  });
});

/** Has the daily work delete accounts. */
async function removeAccounts(...users: User[]): Promise<void> {
  await service.sql("update users set deletion_scheduled_for = now() - interval '1 day' where id = any($1)", [
    users.map(({ id }) => id),
  ]);
  await service.app.scheduled(DAILY);
  await service.settled();
}

describe("the first payment of a subscription by bank debit", () => {
  const paidForNothing = (customer: string) =>
    service.logs.filter((line) => line.includes("gave its buyer nothing: pay it back") && line.includes(customer));

  it.each([
    ["was closed", (user: User) => removeAccounts(user)],
    ["has ended the plan", (user: User) => user.call("POST", CANCEL)],
    ["goes on", null],
  ] as const)(
    "that arrives after its account %s is told to the operator who has to pay it back",
    async (_what, leave) => {
      const user = await shopper(service);
      const session = await openCheckout(user);
      const customer = await customerOf(service, user.id);
      const begun = service.stripe.pay(session, { later: true });
      await deliverAll(service, begun);
      await leave?.(user);
      expect(paidForNothing(customer)).toEqual([]);
      await deliverAll(service, service.stripe.settleLater(session, true));
      const lines = paidForNothing(customer).map((line) => JSON.parse(line));
      expect(lines).toMatchObject(
        leave !== null
          ? [
              {
                level: "error",
                message: "a subscription was paid that gave its buyer nothing: pay it back",
                subscription_id: service.stripe.subscriptions(customer)[0]?.id,
                invoice_id: expect.stringMatching(/^in_/),
              },
            ]
          : [],
      );
    },
  );

  it("that fails after its account was closed is nothing to tell of", async () => {
    const user = await shopper(service);
    const session = await openCheckout(user);
    const customer = await customerOf(service, user.id);
    await deliverAll(service, service.stripe.pay(session, { later: true }));
    await removeAccounts(user);
    await deliverAll(service, service.stripe.settleLater(session, false));
    expect(paidForNothing(customer)).toEqual([]);
  });
});

describe("an account that is deleted", () => {
  it("leaves no page open at which it could pay for a certification or a hired agent", async () => {
    const [leaving, staying, seller] = [await newUser(service), await newUser(service), await newSeller(service)];
    const listing = await addListing(seller);
    const certification = async (user: User): Promise<string> => {
      const { body } = await buy(user, await addAgent(user, { endpoint }));
      const [row] = await service.sql<{ id: string }>(
        "select checkout_session_id as id from certifications where id = $1",
        [body.certification_id],
      );
      return row?.id ?? "";
    };
    const pages = async (user: User): Promise<string[]> => [
      await certification(user),
      await sessionOf(service, await begin(user, listing.id)),
    ];
    const [closed, others] = [await pages(leaving), await pages(staying)];
    // One of them has run out already.
    service.stripe.expire(await certification(leaving));
    await removeAccounts(leaving);
    for (const session of closed) expect(() => service.stripe.pay(session)).toThrow(/expired/);
    for (const session of others) expect(() => service.stripe.pay(session)).not.toThrow();
    expect(await service.sql("select from outbox where consumer = 'cancel-billing'")).toEqual([]);
  });
});
