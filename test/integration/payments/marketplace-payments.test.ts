import type Stripe from "stripe";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { type Crash, crashAtEach } from "../runs/crash-support.ts";
import {
  assertBooked,
  begin,
  deliver,
  hire,
  listRecipe,
  NEVER,
  newSeller,
  ONCE,
  type Purchase,
  PURCHASES,
  readPurchase,
  sessionOf,
  traces,
} from "./marketplace-support.ts";
import { range, tally, unique } from "../runs/support.ts";
import { elsewhere } from "../workspaces/teams-support.ts";

const MINUTELY = "* * * * *";
const HOUR_MS = 3_600_000;

let service: TestService;
let seller: User;
let buyer: User;
let listing: { id: string; agent_id: string };

beforeAll(async () => {
  service = await startService({ stripe: true });
  [seller, buyer] = await Promise.all([newSeller(service), newUser(service)]);
});

beforeEach(async () => {
  [seller, buyer] = elsewhere([seller, buyer]);
  listing = await listRecipe(seller);
});

afterAll(async () => {
  await assertBooked(service);
  await service.stop();
});

const rows = (text: string, params: unknown[]) => service.sql(text, params);

/** Every order of three events of a checkout that has one or two of them: which comes first, second and third. */
const OF_ONE = ["000"];
const OF_TWO = ["001", "010", "100", "011", "101", "110"];

/** What a buyer and a bank may do with a checkout: the events that come of it, their orders, and how it ends. */
const STORIES: [string, (session: string) => Stripe.Event[], string[], object][] = [
  ["paid at once", (id) => service.stripe.pay(id), OF_ONE, ONCE],
  [
    "paid later",
    (id) => [...service.stripe.pay(id, { later: true }), ...service.stripe.settleLater(id, true)],
    OF_TWO,
    ONCE,
  ],
  [
    "not paid later",
    (id) => [...service.stripe.pay(id, { later: true }), ...service.stripe.settleLater(id, false)],
    OF_TWO,
    NEVER,
  ],
  ["expired", (id) => service.stripe.expire(id), OF_ONE, NEVER],
];

const ofCheckout = (events: Stripe.Event[]) => events.filter(({ type }) => type.startsWith("checkout.session."));
/** Another event that says the same: the provider sends such ones too. */
const twin = (event: Stripe.Event): Stripe.Event => ({ ...event, id: unique("evt_twin").replace(" ", "_") });

describe.each(STORIES)("a checkout that is %s", (_what, happen, orders, end) => {
  it("has one effect when each of its events comes 50 times at once", async () => {
    const purchase = await begin(buyer, listing.id);
    const events = ofCheckout(happen(await sessionOf(service, purchase)));
    const all = events.flatMap((event) => range(50 / events.length).map(() => event));
    const answers = await Promise.all(all.map((event) => service.stripe.deliver(event)));
    expect(tally(answers)).toEqual({ 200: 50 });
    expect(answers.filter(({ body }) => body.deduplicated === false)).toHaveLength(events.length);
    expect(await traces(service, purchase)).toEqual(end);
  });

  it("ends the same in every order of three events", async () => {
    for (const order of orders) {
      const purchase = await begin(buyer, (await listRecipe(seller)).id);
      const events = ofCheckout(happen(await sessionOf(service, purchase)));
      const three = order.split("").flatMap((index) => events[Number(index)] ?? []);
      expect(new Set(three).size).toBe(events.length);
      await deliver(service, three.map(twin));
      expect(await traces(service, purchase), order).toEqual(end);
    }
  });
});

describe("an event", () => {
  it.each([true, false])(
    "of a payment that is still under way (heard of: %s) takes the page alone",
    async (isHeard) => {
      const key = { "idempotency-key": `buy-${listing.id}` };
      const ask = (headers = {}) => buyer.call("POST", PURCHASES, { listing_id: listing.id }, headers);
      const purchase: Purchase = (await ask(key)).body;
      const session = await sessionOf(service, purchase);
      const events = service.stripe.pay(session, { later: true });
      if (isHeard) {
        await deliver(service, events);
        expect(await readPurchase(buyer, purchase)).toMatchObject({ status: "AWAITING_PAYMENT", checkout_url: null });
      }
      const pages = () =>
        service.stripe.requests.filter(({ method, path }) => method === "POST" && path.endsWith("/sessions"));
      const made = pages().length;
      const answers = await Promise.all([ask(), ask(), ask(), ask(key)]);
      for (const { body } of answers) expect([body.id, body.checkout_url]).toEqual([purchase.id, null]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 201]);
      expect(pages()).toHaveLength(made);
      expect(await traces(service, purchase)).toMatchObject({ status: "AWAITING_PAYMENT", clones: 0, revenue: 0 });
      await deliver(service, service.stripe.settleLater(session, true));
      expect(await traces(service, purchase)).toEqual(ONCE);
    },
  );

  it("that comes late counts as what is now, not as what it says", async () => {
    const purchase = await begin(buyer, listing.id);
    const session = await sessionOf(service, purchase);
    const unpaid = ofCheckout(service.stripe.pay(session, { later: true }));
    service.stripe.settleLater(session, true);
    await deliver(service, unpaid);
    expect(await traces(service, purchase)).toEqual(ONCE);
  });

  it("of a failure lets the buyer try again; that purchase is another", async () => {
    const first = await begin(buyer, listing.id);
    await deliver(service, service.stripe.expire(await sessionOf(service, first)));
    expect(await readPurchase(buyer, first)).toMatchObject({
      status: "FAILED",
      checkout_url: null,
      completed_at: null,
    });
    const second = await hire(service, buyer, listing.id);
    expect(second.id).not.toBe(first.id);
    expect(await traces(service, second)).toEqual(ONCE);
    expect(await traces(service, first)).toMatchObject({ status: "FAILED", clones: 0, revenue: 0, noted: 0 });
  });

  it("about another checkout than the purchase's does not end it", async () => {
    const purchase = await begin(buyer, listing.id);
    const other = await begin(buyer, (await listRecipe(seller)).id);
    const [expired] = service.stripe.expire(await sessionOf(service, other));
    const object = { ...expired?.data.object, metadata: { kind: "purchase", purchase_id: purchase.id } };
    await deliver(service, [{ ...expired, data: { object } } as never]);
    expect((await readPurchase(buyer, purchase)).status).toBe("AWAITING_PAYMENT");
  });

  it.each([{}, { kind: "certification" }, { kind: "purchase" }, { kind: "purchase", purchase_id: "1 or true" }])(
    "about a checkout with the metadata %j is left alone, the provider not even asked",
    async (metadata) => {
      const purchase = await begin(buyer, listing.id);
      const before = service.stripe.requests.length;
      const object = { id: await sessionOf(service, purchase), object: "checkout.session", metadata };
      const event = { id: unique("evt"), type: "checkout.session.expired", livemode: false, data: { object } };
      await deliver(service, [event as never]);
      expect(service.stripe.requests.length).toBe(before);
      expect((await readPurchase(buyer, purchase)).status).toBe("AWAITING_PAYMENT");
    },
  );

  it("of a seller's own account, which may say what it likes, is left alone, the provider not even asked", async () => {
    const purchase = await begin(buyer, listing.id);
    const [event] = ofCheckout(service.stripe.pay(await sessionOf(service, purchase)));
    const before = service.stripe.requests.length;
    await deliver(service, [{ ...event, id: unique("evt"), account: "acct_1" } as Stripe.Event]);
    expect(service.stripe.requests.length).toBe(before);
    expect((await readPurchase(buyer, purchase)).status).toBe("AWAITING_PAYMENT");
    await deliver(service, [event as Stripe.Event]);
    expect((await readPurchase(buyer, purchase)).status).toBe("COMPLETED");
  });
});

describe.each<Crash>(["error", "down", "lost"])("a crash (%s) at any step", (crash) => {
  it("of beginning a purchase leaves one checkout, once it is tried again", async () => {
    const buy = () => buyer.call("POST", PURCHASES, { listing_id: listing.id });
    const crashes = await crashAtEach(service, crash, {
      async arrange() {
        listing = await listRecipe(seller);
        return service.stripe.requests.length;
      },
      work: buy,
      async check(before) {
        const { status, body, text } = await buy();
        expect([200, 201], text).toContain(status);
        expect(body.checkout_url).toMatch(/^https:/);
        const asked = service.stripe.requests.slice(before).filter(({ method }) => method === "POST");
        expect(new Set(asked.map(({ idempotencyKey }) => idempotencyKey))).toEqual(new Set([`purchase-${body.id}`]));
        expect(await rows("select id from purchases where listing_id = $1", [listing.id])).toEqual([{ id: body.id }]);
      },
    });
    expect(crashes).toBeGreaterThanOrEqual(3);
  });

  it("of a payment's event leaves one clone, once it is delivered again", async () => {
    const crashes = await crashAtEach(service, crash, {
      async arrange() {
        const purchase = await begin(buyer, (await listRecipe(seller)).id);
        const [event] = ofCheckout(service.stripe.pay(await sessionOf(service, purchase)));
        return { purchase, event: event as Stripe.Event };
      },
      work: ({ event }) => service.stripe.deliver(event),
      async check({ purchase, event }) {
        await deliver(service, [event]);
        await service.sql("update outbox set due_at = now()");
        await service.app.scheduled(MINUTELY);
        await service.broker.advance(HOUR_MS);
        expect(await traces(service, purchase)).toEqual(ONCE);
      },
    });
    expect(crashes).toBeGreaterThanOrEqual(3);
  });
});
