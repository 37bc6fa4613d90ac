import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, caller, newUser, PASSWORD, type User, stranger } from "../../stack/client.ts";
import { cookiesOf } from "../../stack/cookies.ts";
import { linkOf, tokenOf } from "../../stack/mailbox.ts";
import { newVisitor, visitorOf } from "../../stack/visitor.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { heldUp, holdUp, SOMEBODY_WAITS } from "./holding-up.ts";

const EMAIL = "/api/v1/users/me/email";
const CONFIRM = "/api/v1/auth/confirm-email";
const SET = "/api/v1/users/me/password";
const LINK = "/api/v1/users/me/codehost";
const NEXT = "another good password";
const DAY = 86_400_000;

let service: TestService;
let now = Date.parse("2026-11-22T12:00:00.000Z");
let people = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(now) } });
});

afterAll(() => service.stop());

const codeOf = ({ status, body }: Answer<{ code?: string }>) => [status, body?.code];

/** As the account, but from an address that nobody else has, since these endpoints count by address. */
const as = ({ token }: Pick<User, "token">) => {
  people += 1;
  return caller(service, {
    authorization: `Bearer ${token}`,
    "cf-connecting-ip": `172.26.${people >> 8}.${people & 255}`,
  });
};

const fresh = () => `new${(people += 1)}@example.test`;
const ask = (user: User, email: string, more: object = { password: PASSWORD }) =>
  as(user).call("POST", EMAIL, { email, ...more });
const confirm = (token: string) => stranger(service).call("POST", CONFIRM, { token });
const me = async (user: User) => (await user.call("GET", "/api/v1/auth/me")).body;

/** The subjects of the mails that an address got, the latest first. */
async function subjects(email: string): Promise<string[]> {
  await service.settled();
  return service.mailbox.list(email).map(({ subject }) => subject);
}

/** The token of the link that was mailed last to an address. */
async function linked(email: string): Promise<string> {
  await service.settled();
  return tokenOf(service.mailbox.list(email)[0]);
}

/** Somebody who signed in by the code host, and has no password. */
async function hubUser(): Promise<User & { email: string }> {
  const answer = await stranger(service).call("GET", "/api/v1/auth/codehost/callback?dev=true");
  const token = cookiesOf(answer)["service_session"]?.value ?? "";
  const user = caller(service, { authorization: `Bearer ${token}` });
  const { body } = await user.call("GET", "/api/v1/auth/me");
  return { ...user, id: body.id, email: body.email, token };
}

describe("another email address", () => {
  it("is the account's once its link is confirmed, which tells the former one and ends no session", async () => {
    const user = await newUser(service);
    const email = fresh();
    expect((await ask(user, ` ${email.toUpperCase()} `)).status).toBe(202);
    expect((await subjects(user.email))[0]).toBe("Your email address is about to be changed");
    const token = await linked(email);
    expect(await me(user)).toMatchObject({ email: user.email });
    const both = await Promise.all([confirm(token), confirm(token)]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
    expect(await me(user)).toMatchObject({ email, email_verified: true });
    expect((await subjects(user.email))[0]).toBe("Your email address was changed");
    expect(service.mailbox.list(user.email)[0]?.text).toContain(email);
    expect(await subjects(email)).toEqual(["Confirm your new email address"]);
    const signIn = (address: string) =>
      stranger(service).call("POST", "/api/v1/auth/login", { email: address, password: PASSWORD });
    expect([(await signIn(email)).status, (await signIn(user.email)).status]).toEqual([200, 401]);
  });

  it.each([
    { verified: true, invitations: { accepted: true, revoked: true } },
    { verified: false, invitations: { accepted: true, pending: false } },
  ])(
    "takes along what is kept under the former one if that was verified: $verified",
    async ({ verified, invitations }) => {
      const user = await newUser(service, { verified });
      const hosts = [await newUser(service, { plan: "team" }), await newUser(service, { plan: "team" })];
      const [email, lists] = [fresh(), "/api/v1/billing/enterprise-waitlist"];
      const teams: string[] = [];
      for (const host of hosts) {
        const { body } = await host.call("POST", "/api/v1/teams", { name: "Theirs" });
        const invited = await host.call("POST", `/api/v1/teams/${body.id}/invitations`, {
          email: user.email,
          role: "member",
        });
        expect(invited.status, invited.text).toBe(201);
        teams.push(body.id);
      }
      const token = await linked(user.email);
      expect((await as(user).call("POST", "/api/v1/teams/invitations/accept", { token })).status).toBe(200);
      await stranger(service).call("POST", lists, { email: user.email, company: "Mine" });
      await stranger(service).call("POST", "/api/v1/billing/notify-me", { email: user.email });
      await stranger(service).call("POST", "/api/v1/billing/notify-me", { email });
      await ask(user, email);
      expect((await confirm(await linked(email))).status).toBe(200);
      const sent: [string, boolean][] = [];
      for (const [index, host] of hosts.entries()) {
        const { items } = (await host.call("GET", `/api/v1/teams/${teams[index]}/invitations`)).body;
        sent.push([items[0].status, items[0].email === email]);
      }
      expect(Object.fromEntries(sent)).toEqual(invitations);
      const under = async (address: string) =>
        (await service.sql("select list, company from waitlist_entries where email = $1 order by list", [address]))
          .length;
      expect([await under(user.email), await under(email)]).toEqual(verified ? [0, 2] : [2, 1]);
    },
  );

  it("needs the password, and is not the one that the account has", async () => {
    const user = await newUser(service);
    const missing = await ask(user, fresh(), {});
    expect([missing.status, missing.body.errors[0].pointer]).toEqual([422, "/password"]);
    expect(codeOf(await ask(user, fresh(), { password: "wrong" }))).toEqual([401, "invalid_credentials"]);
    expect(codeOf(await ask(user, user.email))).toEqual([409, "email_taken"]);
    expect(await subjects(user.email)).toEqual(["Confirm your email address"]);
  });

  it("tells nobody whether it has an account, but its owner", async () => {
    const [user, owner] = [await newUser(service), await newUser(service)];
    const email = fresh();
    const [free, taken] = [await ask(user, email), await ask(user, owner.email)];
    expect([taken.status, taken.text]).toEqual([free.status, free.text]);
    expect((await subjects(owner.email))[0]).toBe("Somebody wants to use your email address");
    expect(service.mailbox.list(owner.email)[0]?.text).not.toContain(user.email);
    expect(await me(owner)).toMatchObject({ email: owner.email });
  });

  it("mails nobody who did not ask for it more than five times a day, by however many accounts at once", async () => {
    const [accounts, owner] = [
      await Promise.all(Array.from({ length: 8 }, () => newUser(service))),
      await newUser(service),
    ];
    for (const email of [fresh(), owner.email]) {
      const before = (await subjects(email)).length;
      const answers = await Promise.all(accounts.map((one) => ask(one, email)));
      expect(answers.map(codeOf).toSorted(([a], [b]) => Number(a) - Number(b))).toEqual([
        ...Array.from({ length: 5 }, () => [202, undefined]),
        ...Array.from({ length: 3 }, () => [429, "rate_limited"]),
      ]);
      const [refused] = answers.filter(({ status }) => status === 429);
      expect(Number(refused?.headers.get("retry-after"))).toBe((DAY - (now % DAY)) / 1000);
      expect((await subjects(email)).length).toBe(before + 5);
    }
    now += DAY;
    const again = await newUser(service);
    expect((await ask(again, owner.email)).status).toBe(202);
    now -= DAY;
  });

  it("goes to one of the accounts that confirm it at once, and the last of one account's links is the one that works", async () => {
    const [one, two] = [await newUser(service), await newUser(service)];
    const email = fresh();
    await ask(one, email);
    const first = await linked(email);
    await ask(two, email);
    const second = await linked(email);
    const race = await Promise.all([confirm(first), confirm(second)]);
    expect(race.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    const [here, there] = [fresh(), fresh()];
    await Promise.all([ask(one, here), ask(one, there)]);
    const answers = [await confirm(await linked(here)), await confirm(await linked(there))];
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
  });

  it("is forgotten by a changed or reset password, by a sign-out everywhere, and after a day", async () => {
    const voids: [string, (user: User) => Promise<unknown>][] = [
      ["change", (user) => user.call("PATCH", "/api/v1/auth/me", { current_password: PASSWORD, new_password: NEXT })],
      [
        "reset",
        async ({ email }) => {
          await stranger(service).call("POST", "/api/v1/auth/forgot-password", { email });
          const body = { token: await linked(email), new_password: NEXT };
          await stranger(service).call("POST", "/api/v1/auth/reset-password", body);
        },
      ],
      ["sign-out", (user) => user.call("DELETE", "/api/v1/auth/sessions")],
      ["day", async () => (now += DAY)],
    ];
    for (const [name, act] of voids) {
      const [user, email] = [await newUser(service), fresh()];
      await ask(user, email);
      const token = await linked(email);
      await act(user);
      expect([name, ...codeOf(await confirm(token))]).toEqual([name, 400, "invalid_token"]);
    }
    for (const token of ["", "x"]) expect(codeOf(await confirm(token))).toEqual([400, "invalid_token"]);
  });

  it("is forgotten by a sign-out everywhere that comes while it is asked for", async () => {
    const [user, email] = [await newUser(service), fresh()];
    // The request goes on once the sign-out is done, or waits for it.
    const until = `${SOMEBODY_WAITS} or not exists (select from sessions where user_id = '${user.id}' and revoked_at is null)`;
    const letGo = await holdUp(service, { on: "insert on email_tokens", until });
    const asked = ask(user, email);
    await heldUp(service);
    expect((await as(user).call("DELETE", "/api/v1/auth/sessions")).status).toBe(204);
    expect((await asked).status).toBe(202);
    await letGo();
    expect(codeOf(await confirm(await linked(email)))).toEqual([400, "invalid_token"]);
  });

  it("is changed by pages alone, from the settings to the mailed link", async () => {
    const user = await newUser(service);
    const [visitor, email] = [await visitorOf(service, user), fresh()];
    const form = await visitor.follow(await visitor.open("/settings"), "change it");
    const button = "Mail me a link to confirm it";
    const wrong = await visitor.send(form, button, { email: "no address", password: PASSWORD });
    expect([wrong.status, Object.keys(wrong.wrong)]).toEqual([422, ["email"]]);
    expect((await visitor.send(wrong, button, { email, password: PASSWORD })).alerts).toHaveLength(1);
    await service.settled();
    const { pathname, search } = linkOf(service.mailbox.list(email)[0]);
    const elsewhere = newVisitor(service);
    const page = await elsewhere.open(pathname + search);
    expect((await me(user)).email).toBe(user.email);
    expect((await elsewhere.send(page, "Use this address")).heading).toBe("Your email address is changed");
    expect((await visitor.open("/settings")).html).toContain(email);
  });
});

describe("an account that signs in by the code host", () => {
  it("gets a password once, however many set one at once, and only then can do without the code host", async () => {
    const [user, other] = [await hubUser(), await hubUser()];
    expect(codeOf(await as(user).call("DELETE", LINK))).toEqual([409, "last_way_in"]);
    for (const new_password of ["short", "aB3$".repeat(40), "aB3$".repeat(1000)])
      expect(codeOf(await as(user).call("POST", SET, { new_password }))).toEqual([422, "weak_password"]);
    const sets = await Promise.all([1, 2, 3].map(() => as(user).call("POST", SET, { new_password: NEXT })));
    expect(sets.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
    expect(sets.find(({ status }) => status === 200)?.body).toMatchObject({ id: user.id, has_password: true });
    expect((await subjects(user.email))[0]).toBe("Your password was changed");
    expect((await other.call("GET", "/api/v1/auth/me")).status).toBe(401);
    const signIn = await stranger(service).call("POST", "/api/v1/auth/login", { email: user.email, password: NEXT });
    expect(signIn.status).toBe(200);
    const unlinked = await Promise.all([1, 2].map(() => as(user).call("DELETE", LINK)));
    expect(unlinked.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 404]);
    expect(await service.sql("select from identities where user_id = $1", [user.id])).toEqual([]);
  });

  it("does so by its page", async () => {
    const visitor = newVisitor(service);
    await visitor.open("/api/v1/auth/codehost/callback?dev=true");
    await service.sql("update users set password_hash = null where email = 'developer@example.test'");
    const page = await visitor.open("/settings/password");
    expect(page.html).toContain("Your account has no password.");
    const weak = await visitor.send(page, "Set the password", { new_password: "short" });
    expect([weak.status, Object.keys(weak.wrong)]).toEqual([422, ["new_password"]]);
    const set = await visitor.send(weak, "Set the password", { new_password: NEXT });
    expect(set.alerts).toEqual([expect.stringContaining("The password is set")]);
    const done = await visitor.send(set, "Sign in by GitHub no longer");
    expect(done.alerts).toEqual(["You sign in by your password alone now."]);
  });
});
