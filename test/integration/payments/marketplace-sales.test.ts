import type Stripe from "stripe";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { idOf } from "../../stack/stripe/store.ts";
import { visitorOf } from "../../stack/visitor.ts";
import {
  addListing,
  assertBooked,
  begin,
  bodyOf,
  deliver,
  enable,
  hire,
  LISTINGS,
  listRecipe,
  newSeller,
  PURCHASES,
  SALES,
  sessionOf,
} from "./marketplace-support.ts";
import { addAgent, range } from "../runs/support.ts";
import { addTeam, elsewhere } from "../workspaces/teams-support.ts";

let service: TestService;
let anonymous: Caller;
let seller: User;
let buyer: User;
/** Ahead of the machine's clock by this, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  service = await startService({ stripe: true, overrides: { now: () => new Date(Date.now() + ahead) } });
  anonymous = caller(service);
  buyer = await newUser(service);
});

beforeEach(async () => {
  ahead = 0;
  seller = await newSeller(service);
  [buyer] = elsewhere([buyer]);
});

afterAll(async () => {
  await assertBooked(service);
  await service.stop();
});

const NOTHING = {
  items: [],
  total: 0,
  page: 1,
  page_size: 20,
  sums: { price_usd: 0, refunded_usd: 0, fee_usd: 0, earned_usd: 0 },
};
const salesOf = async (who: User, query = "") => bodyOf(await who.call("GET", `${SALES}${query}`), 200);
const pay = async (purchase: Awaited<ReturnType<typeof begin>>) =>
  deliver(service, service.stripe.pay(await sessionOf(service, purchase)));
/** A key of a user, for everything that keys may do. */
async function keyOf(user: User): Promise<Caller> {
  const { key } = bodyOf<{ key: string }>(
    await user.call("POST", "/api/v1/api-keys", { name: "All", scope: "write" }),
    201,
  );
  return caller(service, { authorization: `Bearer ${key}` });
}

describe("a listing", () => {
  const read = async (by: Caller, id: string) => (await by.call("GET", `${LISTINGS}/${id}`)).status;

  it("is told to everybody as the list tells it", async () => {
    const { id } = await addListing(seller);
    for (const [by, is_own] of [
      [anonymous, false],
      [buyer, false],
      [seller, true],
      [await keyOf(seller), true],
    ] as const) {
      const { items } = bodyOf(await by.call("GET", LISTINGS), 200);
      const listing = bodyOf(await by.call("GET", `${LISTINGS}/${id}`), 200);
      expect(listing).toMatchObject({ id, is_own, is_active: true });
      expect(items).toContainEqual(listing);
    }
    expect(await read(anonymous, seller.id)).toBe(404);
  });

  it.each<[string, (listing: { id: string; agent_id: string }) => Promise<unknown>]>([
    ["was withdrawn", ({ id }) => seller.call("DELETE", `${LISTINGS}/${id}`)],
    ["has a private agent", (of) => seller.call("PATCH", `/api/v1/agents/${of.agent_id}`, { is_public: false })],
    ["has an agent that is off", (of) => seller.call("DELETE", `/api/v1/agents/${of.agent_id}`)],
    ["is of a seller who can't be paid", () => enable(service, seller, false)],
  ])("that %s is its seller's alone, in a session: not even the buyer's", async (_what, hide) => {
    const listing = await listRecipe(seller);
    await hire(service, buyer, listing.id);
    const key = await keyOf(seller);
    await hide(listing);
    for (const by of [anonymous, buyer, key]) expect(await read(by, listing.id)).toBe(404);
    expect(await read(seller, listing.id)).toBe(200);
  });

  it("does not tell a former owner of an agent that has become private", async () => {
    const owner = await newUser(service, { plan: "team", verified: true });
    const team = await addTeam(service, owner, { editor: seller });
    const { id, agent_id } = await addListing(seller);
    bodyOf(await seller.call("POST", `/api/v1/agents/${agent_id}/transfer-to-workspace`, { team_id: team }), 200);
    bodyOf(await owner.call("PATCH", `/api/v1/agents/${agent_id}`, { is_public: false, name: "Hush" }), 200);
    expect(await read(seller, id)).toBe(200);
    bodyOf(await owner.call("DELETE", `/api/v1/teams/${team}/members/${seller.id}`), 204);
    expect(await read(seller, id)).toBe(404);
  });
});

describe("what was sold", () => {
  it("is nothing where nobody has paid, and asks for a session", async () => {
    await begin(buyer, (await addListing(seller)).id);
    expect(await salesOf(seller)).toEqual(NOTHING);
    for (const [by, status] of [
      [anonymous, 401],
      [await keyOf(seller), 403],
    ] as const)
      expect((await by.call("GET", SALES)).status).toBe(status);
  });

  it("is paged, what was paid last first, with the sums of all pages, and told to its seller alone", async () => {
    const names = ["First", "Second", "Third"];
    const made = [];
    for (const [index, name] of names.entries()) {
      const agent_id = await addAgent(seller, { name: `${name} of ${seller.id}` });
      made.push(await addListing(seller, { agent_id, title: name, price_usd: [1.05, 20, 10_000][index] ?? 0 }));
    }
    const begun = [];
    for (const { id } of made) begun.push(await begin(buyer, id));
    // They are paid in another order than they were begun in.
    for (const index of [1, 2, 0]) {
      ahead += 60_000;
      const purchase = begun[index];
      if (purchase !== undefined) await pay(purchase);
    }
    await begin(await newUser(service), made[0]?.id ?? "");
    await hire(service, buyer, (await addListing(await newSeller(service), { price_usd: 7 })).id);

    const sums = { price_usd: 10_021.05, refunded_usd: 0, fee_usd: 1002.11, earned_usd: 9018.94 };
    const first = await salesOf(seller, "?page_size=2");
    expect(first).toMatchObject({ total: 3, page: 1, page_size: 2, sums });
    expect(first.items[0]).toEqual({
      id: begun[0]?.id,
      listing_id: made[0]?.id,
      title: "First",
      agent_name: `First of ${seller.id}`,
      price_usd: 1.05,
      refunded_usd: 0,
      fee_usd: 0.11,
      earned_usd: 0.94,
      completed_at: expect.any(String),
    });
    const second = await salesOf(seller, "?page_size=2&page=2");
    expect([...first.items, ...second.items].map(({ title }: { title: string }) => title)).toEqual([
      "First",
      "Third",
      "Second",
    ]);
    expect(second).toMatchObject({ total: 3, sums });
    expect(await salesOf(seller, "?page=9")).toMatchObject({ items: [], total: 3, sums });
    expect(await salesOf(buyer)).toEqual(NOTHING);
  });

  it("stays when the listing is withdrawn, its agent's name changes or its place is taken", async () => {
    const owner = await newUser(service, { plan: "team", verified: true });
    bodyOf(await owner.call("POST", "/api/v1/marketplace/seller-account"), 200);
    await enable(service, owner);
    const team = await addTeam(service, owner, { editor: seller });
    const listing = await addListing(seller);
    const { id } = await hire(service, buyer, listing.id);
    const [sale] = (await salesOf(seller)).items;
    bodyOf(await seller.call("DELETE", `${LISTINGS}/${listing.id}`), 204);
    bodyOf(await seller.call("PATCH", `/api/v1/agents/${listing.agent_id}`, { name: `Renamed ${id}` }), 200);
    expect((await salesOf(seller)).items).toEqual([sale]);

    const other = await addListing(seller);
    await hire(service, buyer, other.id);
    const transfer = `/api/v1/agents/${other.agent_id}/transfer-to-workspace`;
    bodyOf(await seller.call("POST", transfer, { team_id: team }), 200);
    await addListing(owner, { agent_id: other.agent_id });
    expect((await salesOf(seller)).items).toMatchObject([{ listing_id: null, title: null, price_usd: 10 }, sale]);
    expect((await salesOf(seller)).sums).toEqual({ price_usd: 20, refunded_usd: 0, fee_usd: 2, earned_usd: 18 });
    expect(await salesOf(owner)).toEqual(NOTHING);
  });

  it("takes one round trip", async () => {
    for (const _one of range(2)) await hire(service, await newUser(service), (await addListing(seller)).id);
    await service.settled();
    service.counters.reset();
    expect((await salesOf(seller)).total).toBe(2);
    expect(service.counters.db.requests).toBe(1);
  });
});

describe("what goes back of a sale", () => {
  /** A purchase for 100 US dollars, its payment, and the events that say that it was paid. */
  async function sold() {
    const purchase = await begin(buyer, (await addListing(seller, { price_usd: 100 })).id);
    const events = service.stripe.pay(await sessionOf(service, purchase));
    const [charge] = events.map(({ data }) => data.object as Stripe.Charge);
    return { purchase, events, intent: idOf(charge?.payment_intent) };
  }
  const booked = async (id: string) => {
    const { items, sums } = await salesOf(seller);
    const [{ refunded_usd, fee_usd, earned_usd }] = items;
    expect(sums).toEqual({ price_usd: 100, refunded_usd, fee_usd, earned_usd });
    expect(bodyOf(await buyer.call("GET", `${PURCHASES}/${id}`), 200)).toMatchObject({
      status: "COMPLETED",
      price_usd: 100,
      refunded_usd,
      hired_agent_id: expect.any(String),
    });
    return [refunded_usd, fee_usd, earned_usd];
  };
  const both = { reverse_transfer: true, refund_application_fee: true };

  it.each<[string, (intent: string) => Stripe.Event[], number[]]>([
    ["at the platform's expense", (intent) => service.stripe.refund(intent), [100, 10, 90]],
    ["at the seller's", (intent) => service.stripe.refund(intent, undefined, both), [100, 0, 0]],
    [
      "at the seller's, who pays the fee",
      (intent) => service.stripe.refund(intent, undefined, { reverse_transfer: true }),
      [100, 10, -10],
    ],
    [
      "in two parts",
      (intent) => [2500, 5000].flatMap((cents) => service.stripe.refund(intent, cents, both)),
      [75, 2.5, 22.5],
    ],
    [
      "by a refund that the bank does not take",
      (intent) => [...service.stripe.refund(intent), ...service.stripe.failRefund(intent)],
      [0, 10, 90],
    ],
    ["by a dispute that is lost", (paymentIntent) => service.stripe.dispute({ paymentIntent }, "lost"), [100, 10, 90]],
    [
      "by a lost dispute, whose amount is taken back from the seller afterwards",
      (paymentIntent) => [
        ...service.stripe.dispute({ paymentIntent }, "lost"),
        ...service.stripe.reverse(paymentIntent, 9000),
      ],
      [100, 10, 0],
    ],
    ["by no dispute that is won", (paymentIntent) => service.stripe.dispute({ paymentIntent }, "won"), [0, 10, 90]],
  ])("%s is told to both, in whatever order and however often it is heard of", async (_what, goBack, sums) => {
    const { purchase, events, intent } = await sold();
    const all = [...events, ...goBack(intent)];
    await deliver(service, all.toReversed());
    expect(await booked(purchase.id)).toEqual(sums);
    await Promise.all(all.map((event, index) => deliver(service, [{ ...event, id: `${event.id}_${index}` }])));
    expect(await booked(purchase.id)).toEqual(sums);
  });

  it("is told, too, where the seller's part and the platform's go back by themselves, one after the other", async () => {
    const { purchase, events, intent } = await sold();
    await deliver(service, [...events, ...service.stripe.refund(intent)]);
    expect(await booked(purchase.id)).toEqual([100, 10, 90]);
    await deliver(service, service.stripe.reverse(intent, 9000));
    expect(await booked(purchase.id)).toEqual([100, 10, 0]);
    await deliver(service, service.stripe.refundFee(intent, 400));
    expect(await booked(purchase.id)).toEqual([100, 6, 4]);
  });

  it("came back where a refund is called off", async () => {
    const { purchase, events, intent } = await sold();
    await deliver(service, [...events, ...service.stripe.refund(intent, 4000)]);
    expect(await booked(purchase.id)).toEqual([40, 10, 90]);
    await deliver(service, service.stripe.cancelRefund(intent));
    expect(await booked(purchase.id)).toEqual([0, 10, 90]);
  });

  it("is never what was read before something newer", async () => {
    const { purchase, events, intent } = await sold();
    await deliver(service, [...events, ...service.stripe.refund(intent, 2500, both)]);
    await service.sql("update revenue set read_at = now() + interval '1 hour' where purchase_id = $1", [purchase.id]);
    await deliver(service, service.stripe.refund(intent, 5000, both));
    expect(await booked(purchase.id)).toEqual([25, 7.5, 67.5]);
  });

  it("is read on pages of both", async () => {
    const { purchase, events, intent } = await sold();
    await deliver(service, [...events, ...service.stripe.refund(intent, undefined, both)]);
    const page = async (user: User, path: string) => (await (await visitorOf(service, user)).open(path)).html;
    expect(await page(buyer, `/marketplace/purchases/${purchase.id}`)).toMatch(/It was paid, and paid back/);
    expect(await page(seller, "/marketplace/seller")).toMatch(/Paid back to buyers/);
  });
});
