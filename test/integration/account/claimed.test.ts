import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { caller, newUser, type User } from "../../stack/client.ts";
import { cookiesOf } from "../../stack/cookies.ts";
import { type GitHub, startGitHub } from "../../stack/github.ts";
import { tokenOf } from "../../stack/mailbox.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { customerOf, openCheckout, planOf, PORTAL } from "../payments/billing-support.ts";
import {
  accountOf,
  addListing,
  begin,
  bodyOf,
  deliver,
  enable,
  LISTINGS,
  PURCHASES,
  readPurchase,
  SELLER,
  sessionOf,
} from "../payments/marketplace-support.ts";
import { from, unique } from "../runs/support.ts";
import { elsewhere, TEAMS } from "../workspaces/teams-support.ts";

const FORGOT = "/api/v1/auth/forgot-password";
const RESET = "/api/v1/auth/reset-password";
const ACCEPT = "/api/v1/teams/invitations/accept";
const ME = "/api/v1/auth/me";
const NEW_PASSWORD = "a different horse entirely";
const APP = { clientId: "client", clientSecret: "secret" };

let github: GitHub;
let service: TestService;
let visits = 0;

beforeAll(async () => {
  github = await startGitHub(APP);
  service = await startService({
    stripe: true,
    settings: { GITHUB_BASE: github.url, GITHUB_CLIENT_ID: APP.clientId, GITHUB_CLIENT_SECRET: APP.clientSecret },
  });
});

beforeEach(() => {
  visits += 1;
});

afterAll(async () => {
  await service.stop();
  await github.close();
});

const visitor = () => caller(service, from(1000 + visits));

/** Asks for a reset of the account's password, and uses it. */
async function reset({ email }: User): Promise<void> {
  bodyOf(await visitor().call("POST", FORGOT, { email }), 202);
  await service.settled();
  const token = tokenOf(service.mailbox.list(email)[0]);
  bodyOf(await visitor().call("POST", RESET, { token, new_password: NEW_PASSWORD }), 200);
}

/** The two ways in which the owner of an address comes to an account that is there already; each resolves to the owner. */
const COMING: [string, (user: User) => Promise<User>][] = [
  [
    "by a reset of the password",
    async (user) => {
      await reset(user);
      const { body } = await visitor().call("POST", "/api/v1/auth/login", {
        email: user.email,
        password: NEW_PASSWORD,
      });
      return { ...user, ...caller(service, { ...from(2000 + visits), authorization: `Bearer ${body.access_token}` }) };
    },
  ],
  [
    "by the code host",
    async (user) => {
      github.signIn({ id: visits, emails: [{ email: user.email, primary: true, verified: true }] });
      const start = await visitor().call("GET", "/api/v1/auth/codehost");
      const authorized = await fetch(start.headers.get("location") ?? "", { redirect: "manual" });
      const back = new URL(authorized.headers.get("location") ?? "");
      const cookie = `service_codehost=${cookiesOf(start)["service_codehost"]?.value}`;
      const answer = await visitor().call("GET", back.pathname + back.search, undefined, { cookie });
      const session = cookiesOf(answer)["service_session"]?.value;
      return { ...user, ...caller(service, { ...from(2000 + visits), authorization: `Bearer ${session}` }) };
    },
  ],
];

/** An account that sells, and has a workspace with a member who came by an invitation. */
async function seller(verified: boolean) {
  const [user, member] = elsewhere([
    await newUser(service, { plan: "team", verified }),
    await newUser(service, { verified: true }),
  ]);
  const { id: team } = bodyOf(await user.call("POST", TEAMS, { name: "kept" }), 201);
  const invited = { email: member.email, role: "admin" };
  bodyOf(await user.call("POST", `${TEAMS}/${team}/invitations`, invited), 201);
  await service.settled();
  const token = tokenOf(service.mailbox.list(member.email)[0]);
  bodyOf(await member.call("POST", ACCEPT, { token }), 200);
  bodyOf(await user.call("POST", SELLER), 200);
  await enable(service, user);
  const listing = await addListing(user, { title: unique("For hire") });
  return { user, member, team: team as string, listing: listing.id, account: await accountOf(service, user) };
}

/** Who is in the workspace, whether the account can be paid, and whether what it sells is on offer. */
async function seen(owner: User, { member, team, listing }: Awaited<ReturnType<typeof seller>>) {
  const members = bodyOf(await owner.call("GET", `${TEAMS}/${team}/members`), 200).items.length;
  const { charges_enabled, payouts_enabled } = bodyOf(await owner.call("GET", ME), 200);
  const offers = bodyOf(await visitor().call("GET", `${LISTINGS}?page_size=100`), 200).items as { id: string }[];
  return {
    members,
    forMember: (await member.call("GET", `${TEAMS}/${team}`)).status,
    paid: [charges_enabled, payouts_enabled],
    onOffer: offers.some(({ id }) => id === listing),
  };
}

describe.each(COMING)("an account that its address's owner comes to %s", (_how, come) => {
  it("keeps nobody in its workspaces, pays nobody and sells nothing, where the address was never verified", async () => {
    const before = await seller(false);
    expect(await seen(before.user, before)).toEqual({ members: 2, forMember: 200, paid: [true, true], onOffer: true });
    const owner = await come(before.user);
    const left = { members: 1, forMember: 404, paid: [false, false], onOffer: false };
    expect(await seen(owner, before)).toEqual(left);

    // The stranger's account at the provider lives on, and is told of.
    await enable(service, before.user);
    expect(await seen(owner, before)).toEqual(left);

    const opened = bodyOf(await owner.call("POST", SELLER), 200);
    expect([opened.charges_enabled, await accountOf(service, owner)]).toEqual([
      false,
      expect.not.stringMatching(before.account),
    ]);
    await enable(service, owner);
    expect(await seen(owner, before)).toEqual({ ...left, paid: [true, true] });
  });

  it("lets nobody pay the stranger at a page that is open, where the address was never verified", async () => {
    const { user, listing } = await seller(false);
    const buyer = await newUser(service, { verified: true });
    const purchase = await begin(buyer, listing);
    const page = await sessionOf(service, purchase);
    await come(user);
    await service.settled();
    expect(() => service.stripe.pay(page)).toThrow(/expired/);
    await deliver(service, service.stripe.events.filter(({ type }) => type === "checkout.session.expired").slice(-1));
    expect((await readPurchase(buyer, purchase)).status).toBe("FAILED");
  });

  it.each([false, true])(
    "has what the stranger paid with only where the address was verified: %s",
    async (verified) => {
      const [user] = elsewhere([await newUser(service, { verified })]);
      await deliver(service, service.stripe.pay(await openCheckout(user)));
      const [former, before] = [await customerOf(service, user.id), service.stripe.events.length];
      expect(await planOf(service, user.id)).toBe("pro");
      const owner = await come(user);
      await service.settled();
      await deliver(service, service.stripe.events.slice(before));
      expect([service.stripe.subscriptions(former)[0]?.status, await planOf(service, user.id)]).toEqual(
        verified ? ["active", "pro"] : ["canceled", "free"],
      );
      bodyOf(await owner.call("POST", PORTAL), 200);
      const own = await customerOf(service, user.id);
      expect([own === former, service.stripe.customers().find(({ id }) => id === own)?.email]).toEqual([
        verified,
        user.email,
      ]);
    },
  );

  it("stays as it is where the address was verified", async () => {
    const before = await seller(true);
    const page = await sessionOf(service, await begin(await newUser(service, { verified: true }), before.listing));
    const owner = await come(before.user);
    await service.settled();
    expect(service.stripe.pay(page).map(({ type }) => type)).toContain("checkout.session.completed");
    expect(await seen(owner, before)).toEqual({ members: 2, forMember: 200, paid: [true, true], onOffer: true });
    bodyOf(await owner.call("POST", SELLER), 200);
    expect(await accountOf(service, owner)).toBe(before.account);
  });
});

it.each([
  ["never verified", false, 400],
  ["verified", true, 200],
])(
  "An invitation of an admin holds no longer in a workspace of a claimed account that was %s",
  async (_how, verified, status) => {
    const { user, member, team } = await seller(verified);
    const guest = await newUser(service, { verified: true });
    bodyOf(await member.call("POST", `${TEAMS}/${team}/invitations`, { email: guest.email, role: "admin" }), 201);
    await service.settled();
    const token = tokenOf(service.mailbox.list(guest.email)[0]);
    await reset(user);
    expect((await guest.call("POST", ACCEPT, { token })).status).toBe(status);
  },
);

it("An account that is claimed while invitations are accepted has no member but its owner", async () => {
  const [user] = elsewhere([await newUser(service, { plan: "enterprise" })]);
  const { id: team } = bodyOf(await user.call("POST", TEAMS, { name: "kept" }), 201);
  const members = await Promise.all(Array.from({ length: 4 }, () => newUser(service, { verified: true })));
  const tokens: string[] = [];
  for (const { email } of members) {
    bodyOf(await user.call("POST", `${TEAMS}/${team}/invitations`, { email, role: "admin" }), 201);
    await service.settled();
    tokens.push(tokenOf(service.mailbox.list(email)[0]));
  }
  const accepted = members.map((member, index) => member.call("POST", ACCEPT, { token: tokens[index] }));
  await reset(user);
  for (const { status } of await Promise.all(accepted)) expect([200, 400]).toContain(status);
  const left = await service.sql("select user_id as id from team_members where team_id = $1", [team]);
  expect(left).toEqual([{ id: user.id }]);
});

it("An account that is claimed while a page is made at which its maker would be paid leaves no such page", async () => {
  const { user, listing } = await seller(false);
  const buyer = await newUser(service, { verified: true });
  service.faults.set({ service: "provider", mode: "hang", path: "POST /v1/checkout/sessions", count: 1 });
  const buying = buyer.call("POST", PURCHASES, { listing_id: listing }, { "idempotency-key": "once" });
  const bought = () => service.sql<{ id: string }>("select id from purchases where listing_id = $1", [listing]);
  await vi.waitUntil(async () => (await bought()).length > 0, 10_000);
  await reset(user);
  service.faults.set({ service: "provider", mode: "none" });
  expect([(await buying).status, (await buying).body.code]).toEqual([409, "seller_not_ready"]);
  await service.settled();
  const [purchase] = await bought();
  expect(await service.sql("select status, checkout_url from purchases where id = $1", [purchase?.id])).toEqual([
    { status: "FAILED", checkout_url: null },
  ]);
  const page = service.stripe.requests.map(({ path }) => /(cs_\w+)\/expire$/.exec(path)?.[1]).findLast(Boolean) ?? "";
  expect(() => service.stripe.pay(page)).toThrow(/expired/);
  const again = await buyer.call("POST", PURCHASES, { listing_id: listing }, { "idempotency-key": "once" });
  expect([again.status, again.body.code]).toEqual([409, "seller_not_ready"]);
});

it("An account that is claimed while many buy of it leaves no page at which its maker would be paid", async () => {
  const { user, listing } = await seller(false);
  const buyers = await Promise.all(Array.from({ length: 8 }, () => newUser(service, { verified: true })));
  const before = service.stripe.requests.length;
  const answers = buyers.map((buyer) => buyer.call("POST", PURCHASES, { listing_id: listing }));
  await Promise.race(answers);
  await reset(user);
  for (const { status } of await Promise.all(answers)) expect([201, 404, 409]).toContain(status);
  await service.settled();
  const asked = service.stripe.requests.slice(before).filter(({ status }) => status === 200);
  const made = asked.filter(({ method, path }) => method === "POST" && path === "/v1/checkout/sessions");
  const ended = asked.filter(({ path }) => path.endsWith("/expire"));
  expect([made.length > 0, new Set(ended.map(({ path }) => path)).size]).toEqual([true, made.length]);
});

it("An account that is claimed while its maker opens one at the payment provider is not paid through that", async () => {
  const [user] = elsewhere([await newUser(service)]);
  service.faults.set({ service: "provider", mode: "hang", path: "POST /v1/accounts", count: 1 });
  service.counters.reset();
  const opening = user.call("POST", SELLER);
  await vi.waitUntil(() => service.counters.snapshot().db.requests > 0, 10_000);
  await reset(user);
  service.faults.set({ service: "provider", mode: "none" });
  expect([(await opening).status, (await opening).body.code]).toEqual([401, "unauthenticated"]);
  expect(await service.sql("select from seller_accounts where user_id = $1", [user.id])).toEqual([]);
});
