import type Stripe from "stripe";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newUser, PASSWORD, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  addListing,
  assertBooked,
  begin,
  bodyOf,
  CONFIGURATION,
  deliver,
  hire,
  LISTINGS,
  listRecipe,
  newSeller,
  ONCE,
  type Purchase,
  PURCHASES,
  readPurchase,
  sessionOf,
  traces,
} from "./marketplace-support.ts";
import { addAgent, range, unique } from "../runs/support.ts";
import { addTeam, elsewhere } from "../workspaces/teams-support.ts";

const DAILY = "17 3 * * *";

let service: TestService;
let seller: User;
let buyer: User;
/** Another seller, who may own workspaces. */
let other: User;
let listing: { id: string; agent_id: string };
/** Ahead of the machine's clock by this, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  service = await startService({ stripe: true, overrides: { now: () => new Date(Date.now() + ahead) } });
  [seller, other, buyer] = await Promise.all([newSeller(service), newSeller(service), newUser(service)]);
  await service.sql("update users set plan = 'team' where id = $1", [other.id]);
});

beforeEach(async () => {
  ahead = 0;
  [seller, buyer, other] = elsewhere([seller, buyer, other]);
  listing = await listRecipe(seller);
});

afterAll(async () => {
  await assertBooked(service);
  await service.stop();
});

const rows = (text: string, params: unknown[]) => service.sql(text, params);

/** How often the operator was told that this purchase was paid for nothing. */
const unmet = ({ id }: { id: string }) =>
  service.logs.filter((line) => line.includes("gave its buyer nothing: pay it back") && line.includes(id)).length;

describe("a paid purchase", () => {
  it.each([
    ["has failed", "update purchases set status = 'FAILED' where id = $1", "FAILED"],
    ["is gone", "delete from purchases where id = $1", undefined],
  ])("that %s by then is told to the operator, who alone can pay it back", async (_what, end, status) => {
    const paid = await begin(buyer, listing.id);
    const events = service.stripe.pay(await sessionOf(service, paid));
    await deliver(service, events);
    const ended = await begin(other, listing.id);
    await rows(end, [ended.id]);
    const completed = events.find(({ type }) => type === "checkout.session.completed");
    const object = { ...completed?.data.object, metadata: { kind: "purchase", purchase_id: ended.id } };
    await deliver(service, [{ ...completed, id: unique("evt"), data: { object } } as never]);
    expect([unmet(paid), unmet(ended)]).toEqual([0, 1]);
    expect((await rows("select status from purchases where id = $1", [ended.id]))[0]?.["status"]).toBe(status);
  });

  it("hires a clone: private, simulated, without anything of the seller's but the configuration", async () => {
    const secret = { endpoint: null, provider_url: null, manifest_url: null, customer_llm_provider: null };
    const purchase = await hire(service, buyer, listing.id);
    expect(purchase).toMatchObject({ status: "COMPLETED", checkout_url: null, completed_at: expect.any(String) });
    const [source] = await rows("select name from agents where id = $1", [listing.agent_id]);
    const [clone] = await rows("select * from agents where id = $1", [purchase.hired_agent_id]);
    expect(clone).toMatchObject({
      ...source,
      ...secret,
      user_id: buyer.id,
      team_id: null,
      description: "",
      connection_mode: "mock",
      declared_configuration: CONFIGURATION,
      variant_of: listing.agent_id,
      is_public: false,
      allow_trial: false,
      is_active: true,
      verified_state: "unverified",
      registry_status: "unregistered",
    });
    expect(await traces(service, purchase)).toEqual(ONCE);
    expect(
      await rows(
        "select seller_id, gross_usd::float, fee_usd::float, net_usd::float from revenue where purchase_id = $1",
        [purchase.id],
      ),
    ).toEqual([{ seller_id: seller.id, gross_usd: 25.5, fee_usd: 2.55, net_usd: 22.95 }]);
    expect(
      await rows("select user_id, properties from analytics_events where properties ->> 'purchase_id' = $1", [
        purchase.id,
      ]),
    ).toEqual([{ user_id: buyer.id, properties: { purchase_id: purchase.id } }]);
  });

  it("hires what was bought, whatever became of listing and agent since", async () => {
    const purchase = await begin(buyer, listing.id);
    await seller.call("DELETE", `${LISTINGS}/${listing.id}`);
    const change = { name: unique("Changed"), declared_configuration: { model: "other" }, is_public: false };
    bodyOf(await seller.call("PATCH", `/api/v1/agents/${listing.agent_id}`, change), 200);
    await deliver(service, service.stripe.pay(await sessionOf(service, purchase)));
    const { hired_agent_id: hired } = await readPurchase(buyer, purchase);
    const { name, declared_configuration } = bodyOf(await buyer.call("GET", `/api/v1/agents/${hired}`), 200);
    expect([name.startsWith("Recipe"), declared_configuration]).toEqual([true, CONFIGURATION]);
  });

  it.each([
    ["that waits to be paid", false],
    ["whose page could not be opened", true],
  ])("hires the configuration of the moment when a purchase %s was last asked for", async (_what, isDown) => {
    const ask = () => buyer.call<Purchase>("POST", PURCHASES, { listing_id: listing.id });
    if (isDown) service.faults.set({ service: "provider", mode: "down" });
    expect((await ask()).status).toBe(isDown ? 503 : 201);
    service.faults.set({ service: "provider", mode: "none" });
    const change = (model: string) =>
      seller.call("PATCH", `/api/v1/agents/${listing.agent_id}`, { declared_configuration: { model } });
    await change("m-2");
    const purchase = bodyOf(await ask(), 200);
    await change("m-3");
    const events = service.stripe.pay(await sessionOf(service, purchase));
    // It is paid by now, though its event is still to come: what was bought stays.
    expect(bodyOf(await ask(), 200).checkout_url).toBeNull();
    await deliver(service, events);
    const { hired_agent_id } = await readPurchase(buyer, purchase);
    const [hired] = await rows("select declared_configuration from agents where id = $1", [hired_agent_id]);
    expect(hired).toEqual({ declared_configuration: { model: "m-2" } });
  });

  it("hires a variant of the root where the agent is a variant itself", async () => {
    const agent_id = await addAgent(seller, { variant_of: listing.agent_id });
    const { hired_agent_id } = await hire(service, buyer, (await addListing(seller, { agent_id })).id);
    expect(await rows("select variant_of from agents where id = $1", [hired_agent_id])).toEqual([
      { variant_of: listing.agent_id },
    ]);
  });

  it("hires beyond what the buyer's plan allows", async () => {
    const make = async () => (await buyer.call("POST", "/api/v1/agents", { name: unique("Own") })).status;
    while ((await make()) === 201);
    expect(await hire(service, buyer, listing.id)).toMatchObject({ hired_agent_id: expect.any(String) });
    expect(await make()).toBe(402);
  });

  it("gives each clone a name of its own, also when purchases are completed at once", async () => {
    const name = `${unique("N")}${"x".repeat(120)}`.slice(0, 120);
    await addAgent(other, { name: name.toUpperCase() });
    const events: Stripe.Event[] = [];
    for (const _one of range(8)) {
      const agent_id = await addAgent(seller, { name });
      const { id } = await addListing(seller, { agent_id });
      events.push(...service.stripe.pay(await sessionOf(service, await begin(other, id))));
      await seller.call("DELETE", `/api/v1/agents/${agent_id}`);
    }
    const completed = events.filter(({ type }) => type === "checkout.session.completed");
    await Promise.all(completed.map((event) => deliver(service, [event])));
    const { items } = bodyOf(await other.call("GET", "/api/v1/agents?scope=personal"), 200);
    const names = items.map((agent: { name: string }) => agent.name);
    const numbered = range(8).map((index) => `${name.slice(0, 116)} (${index + 2})`);
    expect(names).toEqual(expect.arrayContaining([name.toUpperCase(), ...numbered]));
  });

  it("can be completed for two who buy from each other at the same time", async () => {
    const theirs = await addListing(other, { agent_id: await addAgent(other) });
    const pairs = [
      [seller, theirs.id],
      [other, listing.id],
    ] as const;
    const bought = await Promise.all(pairs.map(([who, id]) => begin(who, id)));
    const sessions = await Promise.all(bought.map((purchase) => sessionOf(service, purchase)));
    const events = sessions.flatMap((id) => service.stripe.pay(id));
    await Promise.all(events.map((event) => deliver(service, [event])));
    for (const purchase of bought) expect(await traces(service, purchase)).toMatchObject(ONCE);
  });
});

describe("a hired agent", () => {
  const members = async (who: User, agent: string | null): Promise<string[]> => {
    const { items, members: all = items } = bodyOf(await who.call("GET", `/api/v1/agents/${agent}/frontier`), 200);
    return all.map(({ agent_id }: { agent_id: string }) => agent_id);
  };

  it("is in no group that its seller sees, and its buyer sees in it what is public", async () => {
    const hidden = await addAgent(seller, { variant_of: listing.agent_id, is_public: false });
    const { hired_agent_id: hired } = await hire(service, buyer, listing.id);
    expect(await members(seller, listing.agent_id)).toEqual([listing.agent_id, hidden]);
    expect(await members(buyer, hired)).toEqual([listing.agent_id, hired]);
    expect((await seller.call("GET", `/api/v1/agents/${hired}`)).status).toBe(404);
  });

  it("keeps its seller from nothing: the agent can become a variant, and move", async () => {
    const { hired_agent_id: hired } = await hire(service, buyer, listing.id);
    const root = await addAgent(seller);
    const path = `/api/v1/agents/${listing.agent_id}`;
    bodyOf(await seller.call("PATCH", path, { variant_of: root }), 200);
    bodyOf(await seller.call("PATCH", path, { variant_of: null }), 200);
    const team = await addTeam(service, other, { editor: seller });
    bodyOf(await seller.call("POST", `${path}/transfer-to-workspace`, { team_id: team }), 200);
    expect(await members(buyer, hired)).toEqual([listing.agent_id, hired]);
  });

  it("is its buyer's to move and to take out of the group", async () => {
    const team = await addTeam(service, other, { editor: buyer });
    const { hired_agent_id: hired } = await hire(service, buyer, listing.id);
    const moved = await buyer.call("POST", `/api/v1/agents/${hired}/transfer-to-workspace`, { team_id: team });
    expect(bodyOf(moved, 200)).toMatchObject({ team_id: team, variant_of: listing.agent_id });
    const path = `/api/v1/agents/${hired}`;
    expect(bodyOf(await buyer.call("PATCH", path, { variant_of: null }), 200).variant_of).toBeNull();
    const back = await buyer.call("PATCH", path, { variant_of: listing.agent_id });
    expect([back.status, back.body.code]).toEqual([422, "invalid_variant"]);
  });
});

describe("the end of an account", () => {
  const DELETION = "/api/v1/users/me/deletion";

  async function finalise(user: User): Promise<void> {
    bodyOf(await user.call("POST", DELETION, { password: PASSWORD }), 202);
    ahead = 14 * 86_400_000 + 1000;
    await service.app.scheduled(DAILY);
  }

  it("of a seller leaves its buyers their clones, and takes its listings away", async () => {
    const leaving = await newSeller(service);
    const { id } = await listRecipe(leaving);
    const done = await hire(service, buyer, id);
    const open = await begin(buyer, id);
    const unpaid = await begin(other, id);
    const failed = await begin(await newUser(service), id);
    await deliver(service, service.stripe.expire(await sessionOf(service, failed)));
    expect(bodyOf(await leaving.call("GET", DELETION), 200).purchases, "only what it bought counts").toBe(0);
    const events = service.stripe.pay(await sessionOf(service, open));
    const expiry = service.stripe.expire(await sessionOf(service, unpaid));
    await finalise(leaving);
    for (const table of [
      "seller_accounts where user_id",
      "listings where seller_id",
      "purchases where seller_id",
      "agents where user_id",
    ])
      expect(await rows(`select from ${table} = $1`, [leaving.id]), table).toEqual([]);
    const clone = await rows("select variant_of, is_active from agents where id = $1", [done.hired_agent_id]);
    expect(clone).toEqual([{ variant_of: null, is_active: true }]);
    expect(await rows("select seller_id from revenue where purchase_id = $1", [done.id])).toEqual([
      { seller_id: null },
    ]);
    await deliver(service, events);
    expect(await traces(service, open), "what was being paid is hired").toMatchObject({
      status: "COMPLETED",
      clones: 1,
    });
    const bought =
      "select a.declared_configuration from agents a join purchases p on p.hired_agent_id = a.id where p.id = $1";
    expect(await rows(bought, [open.id])).toEqual([{ declared_configuration: CONFIGURATION }]);
    await deliver(service, expiry);
    const kept = "select declared_configuration as kept from purchases where listing_id = $1";
    expect(await rows(kept, [id]), "nobody else holds the seller's recipe").toEqual(
      range(4).map(() => ({ kept: null })),
    );
  });

  it("of a buyer leaves its purchases without it, and completes what it still pays without a clone", async () => {
    const done = await hire(service, buyer, listing.id);
    const open = await begin(buyer, (await listRecipe(seller)).id);
    const { total } = bodyOf(await buyer.call("GET", PURCHASES), 200);
    expect(bodyOf(await buyer.call("GET", DELETION), 200).purchases).toBe(total);
    const events = service.stripe.pay(await sessionOf(service, open));
    await finalise(buyer);
    expect(unmet(open)).toBe(0);
    await deliver(service, events);
    expect(unmet(open), "the operator is told to pay it back").toBe(1);
    await deliver(service, events);
    expect(unmet(done)).toBe(0);
    const kept = await rows("select status, buyer_id, hired_agent_id from purchases where id = any ($1) order by id", [
      [done.id, open.id],
    ]);
    expect(kept).toEqual(range(2).map(() => ({ status: "COMPLETED", buyer_id: null, hired_agent_id: null })));
    expect(await rows("select from agents where user_id = $1 and team_id is null", [buyer.id])).toEqual([]);
  });
});
