import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Answer, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newVisitor, visitorOf } from "../../stack/visitor.ts";

const DEVICE = "/api/v1/auth/device";
const TOKEN = `${DEVICE}/token`;
const DECISION = `${DEVICE}/decision`;

let service: TestService;
let now = Date.parse("2026-11-22T12:00:00.000Z");
let addresses = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(now) } });
});
beforeEach(() => {
  now += 60_000;
});
afterAll(() => service.stop());

const codeOf = ({ status, body }: Answer<{ code: string }>) => [status, body.code];

/** A program at an address of its own, with the codes that it was given. */
async function program(client_name = "ada-laptop", address = `172.25.${(addresses += 1)}.1`) {
  const { call } = caller(service, { "cf-connecting-ip": address, "user-agent": "agent-screening" });
  const begun = await call("POST", DEVICE, { client_name });
  expect(begun.status, begun.text).toBe(200);
  const { device_code, user_code, ...rest } = begun.body;
  return { device_code, user_code, rest, poll: () => call("POST", TOKEN, { device_code }) };
}

const decide = (user: User, user_code: string, allow = true) => user.call("POST", DECISION, { user_code, allow });

async function namesOf(user: User): Promise<string[]> {
  const { items } = (await user.call("GET", "/api/v1/api-keys")).body;
  return items.map(({ name }: { name: string }) => name);
}

describe("a program that asks for a key", () => {
  it("gets one that works, once somebody has allowed its code, and stores neither code nor key in the clear", async () => {
    const user = await newUser(service);
    const { device_code, user_code, rest, poll } = await program();
    expect(user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(rest).toEqual({
      verification_uri: `${service.url}/device`,
      verification_uri_complete: `${service.url}/device?user_code=${user_code}`,
      expires_in: 600,
      interval: 5,
    });
    expect(codeOf(await poll())).toEqual([400, "authorization_pending"]);
    const typed = user_code.toLowerCase().replace("-", " ");
    const asking = await user.call("GET", `${DEVICE}?user_code=${encodeURIComponent(typed)}`);
    expect(asking.body).toEqual({
      user_code,
      client_name: "ada-laptop",
      user_agent: "agent-screening",
      same_network: false,
      created_at: new Date(now).toISOString(),
      expires_at: new Date(now + 600_000).toISOString(),
    });
    expect((await decide(user, typed)).status).toBe(204);
    expect((await decide(user, user_code)).status, "said twice").toBe(204);
    const { status, body, text } = await poll();
    expect([status, body.name, body.scope, body.expires_at], text).toEqual([200, "ada-laptop", "write", null]);
    const me = await caller(service, { "x-api-key": body.key }).call("GET", "/api/v1/auth/me");
    expect(me.body.email).toBe(user.email);
    expect(await namesOf(user)).toEqual(["ada-laptop"]);
    expect(codeOf(await poll()), "handed out once").toEqual([400, "invalid_token"]);
    const kept = JSON.stringify(await service.sql("select d.*, k.* from device_authorizations d, api_keys k"));
    for (const secret of [device_code, user_code, user_code.replace("-", ""), body.key])
      expect(kept).not.toContain(secret);
  });

  it("gets one key of any number of requests side by side, in one round trip to the database each", async () => {
    const user = await newUser(service);
    const { user_code, poll } = await program("parallel");
    await decide(user, user_code);
    await service.settled();
    service.counters.reset();
    const answers = await Promise.all(Array.from({ length: 8 }, poll));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(answers.filter(({ status }) => status !== 200).map((one) => codeOf(one).join()))).toEqual(
      new Set(["400,invalid_token"]),
    );
    await service.settled();
    expect(service.counters.db.requests).toBe(8);
    expect(await namesOf(user)).toEqual(["parallel"]);
  });

  it("is named by a number where the account has a key of its name, and waits for a place where there is none", async () => {
    const user = await newUser(service);
    for (const name of ["Shared", "shared (2)"]) await user.call("POST", "/api/v1/api-keys", { name, scope: "read" });
    const programs = await Promise.all([program("shared"), program("shared"), program("shared")]);
    for (const { user_code } of programs) await decide(user, user_code);
    const two = await Promise.all(programs.slice(0, 2).map(({ poll }) => poll()));
    expect(new Set(two.map(({ body }) => body.name))).toEqual(new Set(["shared (3)", "shared (4)"]));
    await service.sql(
      `insert into api_keys (user_id, name, prefix, key_hash, scope)
        select $1::uuid, 'key ' || n, 'ask_', $1::uuid || ' ' || n, 'read' from generate_series(1, 96) n`,
      [user.id],
    );
    const [, , third] = programs;
    const full = await third?.poll();
    expect([full?.status, full?.body.code, full?.body.used]).toEqual([402, "quota_exceeded", 100]);
    await user.call("DELETE", `/api/v1/api-keys/${two[0]?.body.id}`);
    expect((await third?.poll())?.status).toBe(200);
  });

  it("is told to slow down, by five seconds each time, until it waits as long as it was told", async () => {
    const { poll } = await program();
    const seconds = async (n: number) => {
      now += n * 1000;
      return codeOf(await poll())[1];
    };
    expect([await seconds(0), await seconds(4), await seconds(9), await seconds(15), await seconds(15)]).toEqual([
      "authorization_pending",
      "slow_down",
      "slow_down",
      "authorization_pending",
      "authorization_pending",
    ]);
  });

  it("gets none by a code that was refused, is over, or was allowed by a session that has ended since", async () => {
    const user = await newUser(service);
    const [refused, over, orphaned] = [await program(), await program(), await program()];
    await decide(user, refused.user_code, false);
    expect(codeOf(await refused.poll())).toEqual([400, "access_denied"]);
    expect(codeOf(await decide(user, refused.user_code)), "the first decision holds").toEqual([404, "not_found"]);
    await decide(user, orphaned.user_code);
    await user.call("POST", "/api/v1/auth/logout");
    expect(codeOf(await orphaned.poll())).toEqual([400, "access_denied"]);
    now += 600_000;
    const other = await newUser(service);
    expect(codeOf(await over.poll())).toEqual([400, "expired_token"]);
    expect(codeOf(await decide(other, over.user_code))).toEqual([404, "not_found"]);
    expect((await other.call("GET", `${DEVICE}?user_code=${over.user_code}`)).status).toBe(404);
    expect(await namesOf(other)).toEqual([]);
  });

  it("belongs to one of those who decide side by side, and codes are not guessed for long", async () => {
    const users = [await newUser(service), await newUser(service), await newUser(service)];
    const { user_code, poll } = await program();
    const decided = await Promise.all(users.map((user) => decide(user, user_code)));
    expect(decided.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 404, 404]);
    await poll();
    const keys = await Promise.all(users.map(namesOf));
    expect(keys.map(({ length }) => length)).toEqual(decided.map(({ status }) => (status === 204 ? 1 : 0)));
    const guesser = await newUser(service);
    const guesses = await Promise.all(
      Array.from("BCDFGHJKLMNP", (letter) => guesser.call("GET", `${DEVICE}?user_code=BBBB-BBB${letter}`)),
    );
    expect(new Set(guesses.map(({ status }) => status))).toEqual(new Set([404, 429]));
  });
});

describe("the page of the code", () => {
  it("lets a program in by its code alone, after signing in, and says what asks, from where and what to beware of", async () => {
    const user = await newUser(service);
    const { user_code, poll } = await program("<b>ada</b>");
    expect((await newVisitor(service).open(`/device?user_code=${user_code}`)).url.pathname).toBe("/sign-in");
    const visitor = await visitorOf(service, user);
    const wrong = await visitor.open("/device?user_code=BBBB-BBBB");
    expect([wrong.status, wrong.alerts[0]]).toEqual([404, expect.stringContaining("No program asks with this code")]);
    expect((await visitor.open("/device")).forms.some(({ shown }) => shown.includes("user_code"))).toBe(true);
    const page = await visitor.open(`/device?user_code=${user_code.toLowerCase()}`);
    for (const text of [
      "&lt;b&gt;ada&lt;/b&gt;",
      "another network than the one",
      "Did you start it yourself",
      user_code,
    ])
      expect(page.html).toContain(text);
    const allowed = await visitor.send(page, "Allow");
    expect(allowed.heading).toBe("The program is let in");
    expect((await poll()).body).toMatchObject({ name: "<b>ada</b>" });
    expect((await visitor.send(page, "Refuse")).status, "it is too late").toBe(404);
  });

  it("refuses a program, and knows one from the visitor's own network", async () => {
    const visitor = await visitorOf(service, await newUser(service));
    const { user_code, poll } = await program("mine", "10.201.0.250");
    const page = await visitor.open(`/device?user_code=${user_code}`);
    expect(page.html).toContain("the network that you are in now");
    expect((await visitor.send(page, "Refuse")).heading).toBe("The program is refused");
    expect(codeOf(await poll())).toEqual([400, "access_denied"]);
  });
});
