import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  accountOf,
  addListing,
  assertBooked,
  begin,
  bodyOf,
  callUnder,
  deliver,
  enable,
  LISTINGS,
  newSeller,
  PURCHASES,
  readPurchase,
  sessionOf,
} from "./marketplace-support.ts";
import { range, tally } from "../runs/support.ts";
import { elsewhere } from "../workspaces/teams-support.ts";

let service: TestService;
let anonymous: Caller;
let seller: User;
let buyer: User;

beforeAll(async () => {
  service = await startService({ stripe: true });
  anonymous = caller(service);
  [seller, buyer] = await Promise.all([newSeller(service), newUser(service)]);
});

beforeEach(() => {
  [seller, buyer] = elsewhere([seller, buyer]);
});

afterAll(async () => {
  await assertBooked(service);
  await service.stop();
});

const asked = (path: string) => service.stripe.requests.filter((call) => `${call.method} ${call.path}` === path);
const offered = async (): Promise<string[]> => {
  const { items } = bodyOf(await anonymous.call("GET", `${LISTINGS}?page_size=100`), 200);
  return items.map(({ id }: { id: string }) => id);
};
const count = async (text: string, params: unknown[]): Promise<number> =>
  (await service.sql<{ n: number }>(`select count(*)::int as n from ${text}`, params))[0]?.n ?? -1;

describe("what is on offer", () => {
  it("is paged, the newest first", async () => {
    const made = [];
    for (const _one of range(3)) made.push((await addListing(seller)).id);
    const { items, total } = bodyOf(await buyer.call("GET", `${LISTINGS}?page_size=2`), 200);
    expect(items.map(({ id }: { id: string }) => id)).toEqual([made[2], made[1]]);
    const second = bodyOf(await anonymous.call("GET", `${LISTINGS}?page_size=2&page=2`), 200);
    expect(second.items[0].id).toBe(made[0]);
    expect(total).toBe((await offered()).length);
  });

  const set = (fields: object) => (agent: string) => seller.call("PATCH", `/api/v1/agents/${agent}`, fields);
  it.each<[string, (agent: string) => Promise<unknown>, (agent: string) => Promise<unknown>]>([
    ["private", set({ is_public: false }), set({ is_public: true })],
    ["off", (agent) => seller.call("DELETE", `/api/v1/agents/${agent}`), set({ is_active: true })],
    ["of a seller who can't be paid", () => enable(service, seller, false), () => enable(service, seller)],
  ])(
    "has no agent that is %s, which can't be bought either, until that has changed back",
    async (_what, hide, show) => {
      const { id, agent_id } = await addListing(seller);
      await hide(agent_id);
      expect(await offered()).not.toContain(id);
      const answer = await buyer.call("POST", PURCHASES, { listing_id: id });
      expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
      await show(agent_id);
      expect(await offered()).toContain(id);
      await begin(buyer, id);
    },
  );

  it("has no listing that was deleted", async () => {
    const { id } = await addListing(seller);
    await seller.call("DELETE", `${LISTINGS}/${id}`);
    expect(await offered()).not.toContain(id);
    expect((await buyer.call("POST", PURCHASES, { listing_id: id })).status).toBe(404);
    expect(await count("purchases where listing_id = $1", [id])).toBe(0);
  });
});

describe("a purchase", () => {
  it("whose page could not be opened fails a day later, by when its listing may be off offer", async () => {
    const [left, fresh, open] = [await addListing(seller), await addListing(seller), await addListing(seller)];
    const { status } = await begin(buyer, open.id);
    service.faults.set({ service: "provider", mode: "error", path: "POST /v1/checkout/sessions" });
    for (const { id } of [left, fresh])
      expect((await buyer.call("POST", PURCHASES, { listing_id: id })).status).toBe(503);
    service.faults.set({ service: "provider", mode: "none" });
    for (const { id } of [left, fresh, open]) await seller.call("DELETE", `${LISTINGS}/${id}`);
    await service.sql("update purchases set created_at = now() - interval '25 hours' where listing_id = any($1)", [
      [left.id, open.id],
    ]);
    await service.app.scheduled(DAILY);
    await service.settled();
    const { items } = bodyOf<{ items: { listing_id: string; status: string }[] }>(
      await buyer.call("GET", `${PURCHASES}?page_size=100`),
      200,
    );
    const found = (id: string) => items.find(({ listing_id }) => listing_id === id)?.status;
    expect([found(left.id), found(fresh.id), found(open.id)]).toEqual(["FAILED", status, status]);
  });

  it("is a checkout that pays the seller, less the platform's share", async () => {
    const { id, agent_id } = await addListing(seller, { price_usd: 19.99 });
    const fresh = await newUser(service);
    const purchase = await begin(fresh, id);
    const [agent] = await service.sql<{ name: string }>("select name from agents where id = $1", [agent_id]);
    expect(purchase).toEqual({
      id: expect.any(String),
      listing_id: id,
      agent_name: agent?.name,
      status: "AWAITING_PAYMENT",
      price_usd: 19.99,
      refunded_usd: 0,
      checkout_url: expect.stringMatching(/^https:/),
      hired_agent_id: null,
      created_at: expect.any(String),
      completed_at: null,
    });
    expect(asked("POST /v1/checkout/sessions").at(-1)).toMatchObject({
      idempotencyKey: `purchase-${purchase.id}`,
      params: {
        mode: "payment",
        line_items: [
          { quantity: "1", price_data: { currency: "usd", unit_amount: "1999", product_data: { name: agent?.name } } },
        ],
        payment_intent_data: {
          application_fee_amount: "200",
          transfer_data: { destination: await accountOf(service, seller) },
        },
        metadata: { kind: "purchase", purchase_id: purchase.id },
      },
    });
    expect(await readPurchase(fresh, purchase)).toEqual(purchase);
    const own = bodyOf(await fresh.call("GET", PURCHASES), 200);
    expect(own).toEqual({ items: [purchase], total: 1, page: 1, page_size: 20 });
    for (const other of [seller, buyer]) {
      expect((await other.call("GET", `${PURCHASES}/${purchase.id}`)).status).toBe(404);
      expect(bodyOf(await other.call("GET", PURCHASES), 200).items).not.toContainEqual(purchase);
    }
  });

  it.each([
    [1, 10],
    [1.04, 10],
    [1.05, 11],
    [1.15, 12],
    [10_000, 100_000],
  ])("of %d USD leaves %d cents to the platform: a tenth, rounded half up", async (price_usd, fee) => {
    await begin(buyer, (await addListing(seller, { price_usd })).id);
    const { params } = asked("POST /v1/checkout/sessions").at(-1) ?? {};
    expect(params).toMatchObject({ payment_intent_data: { application_fee_amount: String(fee) } });
  });

  it("is refused to the seller, while payments are off, and where there is no payment key: nothing is kept", async () => {
    const { id } = await addListing(seller);
    const own = await seller.call("POST", PURCHASES, { listing_id: id });
    expect([own.status, own.body.code]).toEqual([409, "own_listing"]);
    const off = await callUnder(service, { FLAGS: "certify" }, buyer, PURCHASES, { listing_id: id });
    expect(off).toEqual({ status: 503, code: "billing_disabled" });
    const without = await callUnder(service, { STRIPE_SECRET_KEY: "" }, buyer, PURCHASES, { listing_id: id });
    expect(without).toEqual({ status: 503, code: "payment_not_configured" });
    expect(await count("purchases where listing_id = $1", [id])).toBe(0);
  });

  it("is one for a buyer however many begin it at once, and one for each buyer", async () => {
    const { id } = await addListing(seller);
    const other = await newUser(service);
    const before = asked("POST /v1/checkout/sessions").length;
    const all = range(6).flatMap(() => [buyer, other]);
    const answers = await Promise.all(all.map((who) => who.call("POST", PURCHASES, { listing_id: id })));
    expect(tally(answers)).toEqual({ 200: 10, 201: 2 });
    expect(new Set(answers.map(({ body }) => body.checkout_url)).size).toBe(2);
    expect(await count("purchases where listing_id = $1", [id])).toBe(2);
    const keys = asked("POST /v1/checkout/sessions").slice(before);
    expect(new Set(keys.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
  });

  it("is another one once the checkout has expired, though the provider's event of it never came", async () => {
    const { id } = await addListing(seller);
    const first = await begin(buyer, id);
    service.stripe.expire(await sessionOf(service, first));
    const second = await begin(buyer, id);
    expect(second.id).not.toBe(first.id);
    expect(await readPurchase(buyer, first)).toMatchObject({ status: "FAILED", checkout_url: null });
  });

  it("gives its first answer again for its Idempotency-Key, also when it is completed", async () => {
    const { id } = await addListing(seller);
    const key = { "idempotency-key": id };
    const buy = () => buyer.call("POST", PURCHASES, { listing_id: id }, key);
    const first = await buy();
    await deliver(service, service.stripe.pay(await sessionOf(service, first.body)));
    const before = asked("POST /v1/checkout/sessions").length;
    const again = await buy();
    expect(asked("POST /v1/checkout/sessions").length, "nothing is asked for again").toBe(before);
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(await count("purchases where listing_id = $1", [id])).toBe(1);
    const next = await buyer.call("POST", PURCHASES, { listing_id: id });
    expect(next.status, "without the key it is another purchase").toBe(201);
    expect(next.body.id).not.toBe(first.body.id);
  });
});
