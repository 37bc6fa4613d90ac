import type Stripe from "stripe";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  accountOf,
  addListing,
  assertBooked,
  bodyOf,
  callUnder,
  deliver,
  enable,
  LISTINGS,
  newSeller,
  SELLER,
} from "./marketplace-support.ts";
import { addAgent, range, tally, unique } from "../runs/support.ts";
import { addTeam, elsewhere } from "../workspaces/teams-support.ts";

let service: TestService;
let anonymous: Caller;
let seller: User;
let buyer: User;
/** Another seller, who may own workspaces. */
let other: User;
/** How the service's calls to the provider go; tests hold answers back by it. */
let through: typeof fetch = fetch;

beforeAll(async () => {
  service = await startService({ stripe: true, overrides: { fetch: (input, init) => through(input, init) } });
  anonymous = caller(service);
  [seller, other, buyer] = await Promise.all([newSeller(service), newSeller(service), newUser(service)]);
  await service.sql("update users set plan = 'team' where id = $1", [other.id]);
});

beforeEach(() => {
  through = fetch;
  [seller, buyer, other] = elsewhere([seller, buyer, other]);
});

afterAll(async () => {
  await assertBooked(service);
  await service.stop();
});

const asked = (path: string) => service.stripe.requests.filter((call) => `${call.method} ${call.path}` === path);
const flagsOf = async (user: User) => {
  const { charges_enabled, payouts_enabled } = bodyOf(await user.call("GET", "/api/v1/auth/me"), 200);
  return { charges_enabled, payouts_enabled };
};
const offered = async (): Promise<string[]> => {
  const { items } = bodyOf(await anonymous.call("GET", `${LISTINGS}?page_size=100`), 200);
  return items.map(({ id }: { id: string }) => id);
};
const count = async (text: string, params: unknown[]): Promise<number> =>
  (await service.sql<{ n: number }>(`select count(*)::int as n from ${text}`, params))[0]?.n ?? -1;

describe("a seller's account", () => {
  it("is 503 where no payment key is set, and nothing is kept", async () => {
    const without = await callUnder(service, { STRIPE_SECRET_KEY: "" }, buyer, SELLER);
    expect(without).toEqual({ status: 503, code: "payment_not_configured" });
    expect(await count("seller_accounts where user_id = $1", [buyer.id])).toBe(0);
  });

  it("is made once however many ask for it at once, each of whom gets a link of their own", async () => {
    // Several times, since what could go wrong takes two that store the account at the same moment.
    for (const round of range(5)) {
      const asking = round === 0 ? buyer : await newUser(service);
      const before = asked("POST /v1/accounts").length;
      const answers = await Promise.all(range(8).map(() => asking.call("POST", SELLER)));
      const links = answers.map((answer) => bodyOf(answer, 200));
      expect(new Set(links.map(({ url }) => url)).size).toBe(8);
      for (const link of links) {
        expect(link).toEqual({ url: expect.any(String), charges_enabled: false, payouts_enabled: false });
        expect(link.url).toContain(await accountOf(service, asking));
      }
      const keys = asked("POST /v1/accounts").slice(before);
      expect(new Set(keys.map(({ idempotencyKey }) => idempotencyKey))).toEqual(
        new Set([`seller-account-${asking.id}`]),
      );
    }
  });

  it("has what it may do mirrored onto its user, at every change", async () => {
    const account = await accountOf(service, seller);
    for (const [charges_enabled, payouts_enabled] of [
      [false, false],
      [true, false],
      [false, true],
      [true, true],
    ] as const) {
      const flags = { charges_enabled, payouts_enabled };
      await deliver(service, service.stripe.onboard(account, flags));
      expect(await flagsOf(seller)).toEqual(flags);
      expect(bodyOf(await seller.call("POST", SELLER), 200)).toMatchObject(flags);
    }
  });

  it("is read again with each link, so that a seller whose event was lost is not kept waiting for it", async () => {
    const waiting = await newUser(service);
    bodyOf(await waiting.call("POST", SELLER), 200);
    for (const charges_enabled of [true, false]) {
      const flags = { charges_enabled, payouts_enabled: true };
      service.stripe.onboard(await accountOf(service, waiting), flags);
      expect(await flagsOf(waiting)).not.toEqual(flags);
      expect(bodyOf(await waiting.call("POST", SELLER), 200)).toMatchObject(flags);
      expect(await flagsOf(waiting)).toEqual(flags);
    }
  });

  it("is read again in the night, as nobody lists the events of connected accounts that never came", async () => {
    const sellers = [seller, ...(await Promise.all(range(25).map(() => newSeller(service))))];
    const flags = { charges_enabled: false, payouts_enabled: true };
    for (const one of sellers) service.stripe.onboard(await accountOf(service, one), flags);
    // The first of the list, which has the newest ones first.
    const [refused, ...others] = sellers.toReversed();
    await service.sql(`create function refuse() returns trigger language plpgsql as $$
      begin if new.id = '${refused?.id}' then raise 'refused'; end if; return new; end $$`);
    await service.sql("create trigger refuse before update on users for each row execute function refuse()");
    await service.app.scheduled(DAILY);
    await service.sql("drop function refuse cascade");
    expect(await Promise.all(others.map(flagsOf))).toEqual(others.map(() => flags));
    const told = service.logs.map((line) => JSON.parse(line)).filter(({ user_id: id }) => id === refused?.id);
    expect(told).toEqual([expect.objectContaining({ level: "error", message: "seller not looked at again" })]);
    await service.app.scheduled(DAILY);
    expect(await Promise.all(sellers.map(flagsOf))).toEqual(sellers.map(() => flags));
    await enable(service, seller);
  });

  it.each<[string, (events: Stripe.Event[]) => Promise<void>]>([
    ["its event tells", (events) => deliver(service, events)],
    ["is seen in the night, as the provider lists it no more", () => service.app.scheduled(DAILY)],
  ])("that is connected no more, which %s, takes what it sells off offer", async (_how, hear) => {
    const leaving = await newSeller(service);
    const [gone, stays] = [await addListing(leaving), await addListing(seller)];
    const events = service.stripe.deauthorise(await accountOf(service, leaving));
    expect(await offered()).toContain(gone.id);
    await hear(events);
    expect(await flagsOf(leaving)).toEqual({ charges_enabled: false, payouts_enabled: false });
    const left = await offered();
    expect([left.includes(gone.id), left.includes(stays.id)]).toEqual([false, true]);
  });

  it("is left as it is in a night in which the key is of somebody who knows none of the sellers", async () => {
    const { id } = await addListing(seller);
    through = async (input, init) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      if (!pathname.startsWith("/v1/accounts")) return fetch(input, init);
      return pathname === "/v1/accounts"
        ? Response.json({ object: "list", data: [], has_more: false, url: "/v1/accounts" })
        : Response.json({ error: { type: "invalid_request_error", code: "account_invalid" } }, { status: 403 });
    };
    await service.app.scheduled(DAILY);
    expect(await offered()).toContain(id);
    expect((await flagsOf(seller)).charges_enabled).toBe(true);
  });

  it("is as the provider says in whatever order, and however often at once, its events come", async () => {
    const account = await accountOf(service, seller);
    const off = service.stripe.onboard(account, { charges_enabled: false, payouts_enabled: false });
    const half = service.stripe.onboard(account, { charges_enabled: true, payouts_enabled: false });
    const events = [...half, ...off].flatMap((event) => range(12).map(() => event));
    const answers = await Promise.all(events.map((event) => service.stripe.deliver(event)));
    expect(tally(answers)).toEqual({ 200: 24 });
    expect(await flagsOf(seller)).toEqual({ charges_enabled: true, payouts_enabled: false });
  });

  it("keeps what was read last when an older reading arrives after it", async () => {
    const account = await accountOf(service, seller);
    const [old] = service.stripe.onboard(account, { charges_enabled: false, payouts_enabled: false });
    const isRead = Promise.withResolvers<void>();
    const mayArrive = Promise.withResolvers<void>();
    through = async (input, init) => {
      through = fetch;
      const answer = await fetch(input, init);
      isRead.resolve();
      await mayArrive.promise;
      return answer;
    };
    const late = deliver(
      service,
      [old].flatMap((event) => event ?? []),
    );
    await isRead.promise;
    await enable(service, seller);
    mayArrive.resolve();
    await late;
    expect(await flagsOf(seller)).toEqual({ charges_enabled: true, payouts_enabled: true });
  });

  it("is found again by the event when its row was lost, and never takes the place of another", async () => {
    const lost = await newSeller(service);
    const account = await accountOf(service, lost);
    const forget =
      "with s as (delete from seller_accounts where user_id = $1) update users set charges_enabled = false where id = $1";
    await service.sql(forget, [lost.id]);
    const events = service.stripe.onboard(account, { charges_enabled: true, payouts_enabled: true });
    await deliver(service, events);
    expect(await accountOf(service, lost)).toBe(account);
    expect((await flagsOf(lost)).charges_enabled).toBe(true);
    await service.sql("update seller_accounts set account_id = 'acct_other' || user_id where user_id = $1", [lost.id]);
    await deliver(service, service.stripe.onboard(account, { charges_enabled: false, payouts_enabled: false }));
    expect((await flagsOf(lost)).charges_enabled).toBe(true);
  });

  it("that is nobody's here is not even asked about", async () => {
    const [event] = service.stripe.onboard(await accountOf(service, seller), {
      charges_enabled: true,
      payouts_enabled: true,
    });
    const before = service.stripe.requests.length;
    for (const metadata of [{}, { user_id: "x" }, { user_id: "01938e7a-0000-7000-8000-000000000009" }]) {
      const object = { ...event?.data.object, id: unique("acct"), metadata };
      await deliver(service, [{ ...event, id: unique("evt"), data: { object } } as never]);
    }
    expect(service.stripe.requests.length).toBe(before);
  });
});

describe("listing an agent", () => {
  const body = (agent_id: string, fields: object = {}) => ({ agent_id, title: "Mine", price_usd: 10, ...fields });
  const refusal = async (who: User, agent: string): Promise<[number, string]> => {
    const answer = await who.call("POST", LISTINGS, body(agent));
    return [answer.status, answer.body.code];
  };

  it("shows what was said, and nothing of the agent but its name", async () => {
    const secret = { model: "hidden-model", prompt: "hidden prompt" };
    const agent = await addAgent(seller, { name: unique("Shown"), declared_configuration: secret });
    const fields = { title: " A good one ", description: "d", price_usd: 19.99 };
    const answer = await seller.call("POST", LISTINGS, body(agent, fields));
    const made = bodyOf(answer, 201);
    expect(answer.headers.get("location")).toBe(`${LISTINGS}/${made.id}`);
    expect(made).toEqual({
      id: expect.any(String),
      agent_id: agent,
      agent_name: expect.stringContaining("Shown"),
      title: "A good one",
      description: "d",
      price_usd: 19.99,
      seller_username: null,
      is_active: true,
      is_own: true,
      created_at: expect.any(String),
    });
    const first = async (who: Caller) => bodyOf(await who.call("GET", LISTINGS), 200).items[0];
    expect(await first(seller)).toEqual(made);
    for (const who of [buyer, anonymous]) expect(await first(who)).toEqual({ ...made, is_own: false });
  });

  it("is for who owns it, is ready to be paid, and shows it", async () => {
    const [open, hidden, off] = await Promise.all(
      [{}, { is_public: false }, {}].map((fields) => addAgent(seller, fields)),
    );
    bodyOf(await seller.call("DELETE", `/api/v1/agents/${off}`), 204);
    expect(await refusal(buyer, hidden ?? "")).toEqual([404, "not_found"]);
    expect(await refusal(buyer, open ?? "")).toEqual([403, "forbidden"]);
    expect(await refusal(seller, off ?? "")).toEqual([409, "agent_inactive"]);
    expect(await refusal(seller, hidden ?? "")).toEqual([422, "validation_failed"]);
    await enable(service, seller, false);
    expect(await refusal(seller, open ?? "")).toEqual([409, "seller_not_ready"]);
    await enable(service, seller);
  });

  it("is for the owner of its workspace alone", async () => {
    const team = await addTeam(service, other, { admin: seller });
    const agent = await addAgent(seller, { team_id: team });
    expect(await refusal(seller, agent)).toEqual([403, "forbidden"]);
    const { id } = await addListing(other, { agent_id: agent });
    expect(await offered()).toContain(id);
  });

  it("is 422 for what is out of bounds", async () => {
    const agent = await addAgent(seller);
    const wrong = [
      { price_usd: 0.99 },
      { price_usd: 10_000.01 },
      { price_usd: 1.005 },
      { price_usd: "10" },
      { title: " " },
      { title: "x".repeat(121) },
      { description: "x".repeat(2001) },
      { currency: "eur" },
    ];
    for (const fields of wrong) {
      const { status } = await seller.call("POST", LISTINGS, body(agent, fields));
      expect(status, JSON.stringify(fields).slice(0, 40)).toBe(422);
    }
    const widest = { price_usd: 10_000, title: "x".repeat(120), description: "x".repeat(2000) };
    expect((await seller.call("POST", LISTINGS, body(agent, widest))).status).toBe(201);
  });

  it("happens once however many ask for it at once; after its deletion it may be listed again", async () => {
    const agent = await addAgent(seller);
    const answers = await Promise.all(range(8).map(() => seller.call("POST", LISTINGS, body(agent))));
    expect(tally(answers)).toEqual({ 201: 1, 409: 7 });
    expect(await refusal(seller, agent)).toEqual([409, "already_listed"]);
    const [first] = await service.sql<{ id: string }>("select id from listings where agent_id = $1", [agent]);
    const path = `${LISTINGS}/${first?.id}`;
    expect((await buyer.call("DELETE", path)).status).toBe(404);
    for (const _again of range(2)) expect((await seller.call("DELETE", path)).status).toBe(204);
    const second = await addListing(seller, { agent_id: agent });
    expect(await offered()).toContain(second.id);
  });

  it("gives the first answer again for its Idempotency-Key", async () => {
    const agent = await addAgent(seller);
    const key = { "idempotency-key": agent };
    const [first, again] = [
      await seller.call("POST", LISTINGS, body(agent), key),
      await seller.call("POST", LISTINGS, body(agent), key),
    ];
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
  });

  it("makes a listing of somebody who owned it before give way", async () => {
    const team = await addTeam(service, other, { editor: seller });
    const { id: old, agent_id } = await addListing(seller);
    bodyOf(await seller.call("POST", `/api/v1/agents/${agent_id}/transfer-to-workspace`, { team_id: team }), 200);
    expect(await offered()).not.toContain(old);
    const { id } = await addListing(other, { agent_id, price_usd: 500 });
    expect(await offered()).toContain(id);
    expect(id).not.toBe(old);
    expect((await seller.call("DELETE", `${LISTINGS}/${old}`)).status).toBe(404);
  });
});

describe("one's own listings", () => {
  it("are all that are not withdrawn, on offer or not, for a session of their seller alone", async () => {
    const own = await newSeller(service);
    const [open, off, withdrawn] = [await addListing(own), await addListing(own), await addListing(own)];
    expect((await own.call("DELETE", `${LISTINGS}/${withdrawn.id}`)).status).toBe(204);
    bodyOf(await own.call("PATCH", `/api/v1/agents/${off.agent_id}`, { is_public: false }), 200);
    expect(await offered()).not.toContain(off.id);
    const mine = bodyOf(await own.call("GET", `${LISTINGS}?mine=true`), 200);
    expect([mine.total, mine.items.map(({ id }: { id: string }) => id)]).toEqual([2, [off.id, open.id]]);
    expect(mine.items).toEqual(
      await Promise.all(
        mine.items.map(async ({ id }: { id: string }) => bodyOf(await own.call("GET", `${LISTINGS}/${id}`), 200)),
      ),
    );
    expect(bodyOf(await own.call("GET", `${LISTINGS}?mine=true&page=2&page_size=1`), 200).items).toEqual([
      mine.items[1],
    ]);
    expect(bodyOf(await buyer.call("GET", `${LISTINGS}?mine=true`), 200)).toMatchObject({ items: [], total: 0 });

    const { key } = bodyOf(await own.call("POST", "/api/v1/api-keys", { name: "k", scope: "write" }), 201);
    const refused = async (who: Caller, query: string) => (await who.call("GET", `${LISTINGS}?${query}`)).body.code;
    expect([
      await refused(anonymous, "mine=true"),
      await refused(caller(service, { "x-api-key": key }), "mine=true"),
      await refused(own, "mine=true&q=hire"),
    ]).toEqual(["unauthenticated", "session_required", "conflicting_parameters"]);
  });

  it("stay with who sold before its agent was moved away only as long as they see the agent", async () => {
    const team = await addTeam(service, other, { editor: seller });
    const { id, agent_id } = await addListing(seller);
    bodyOf(await seller.call("POST", `/api/v1/agents/${agent_id}/transfer-to-workspace`, { team_id: team }), 200);
    bodyOf(await other.call("PATCH", `/api/v1/agents/${agent_id}`, { is_public: false }), 200);
    const own = async () => bodyOf(await seller.call("GET", `${LISTINGS}?mine=true&page_size=100`), 200).items;
    expect(await own()).toContainEqual(expect.objectContaining({ id }));
    expect((await other.call("DELETE", `/api/v1/teams/${team}/members/${seller.id}`)).status).toBe(204);
    expect(await own()).not.toContainEqual(expect.objectContaining({ id }));
  });
});
