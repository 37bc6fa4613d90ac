import { randomUUID } from "node:crypto";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createApplication } from "../../../functions/app.ts";
import { newApiKey } from "../../../shared/identity/api-keys/api-key.ts";
import { sha256 } from "../../../shared/platform/crypto.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { cookiesOf } from "../../stack/cookies.ts";
import { startService, type TestService } from "../../stack/service.ts";

const ME = "/api/v1/auth/me";
const REFRESH = "/api/v1/auth/refresh";
const LOGOUT = "/api/v1/auth/logout";
const DAY = 86_400_000;
const START = Date.parse("2026-11-21T09:00:00.000Z");

let service: TestService;
let user: User;
let clock = START;
let addresses = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(clock) } });
  user = await newUser(service);
});

beforeEach(() => {
  clock = START;
  service.faults.set({ service: "redis", mode: "none" });
});

afterAll(() => service.stop());

/** What a signed-in device holds. */
interface Device {
  token: string;
  refresh: string;
}

/** Signs a device in by SQL and a refresh, which spares the password's hash. */
async function signIn(): Promise<Device> {
  const [id, credential] = [randomUUID(), randomUUID()];
  await service.sql("insert into sessions (id, user_id, expires_at) values ($1, $2, $3)", [
    id,
    user.id,
    new Date(clock + DAY),
  ]);
  await service.sql("insert into refresh_tokens (token_hash, session_id) values ($1, $2)", [sha256(credential), id]);
  return deviceOf(await refresh(credential));
}

function deviceOf(answer: { headers: Headers }): Device {
  const cookies = cookiesOf(answer);
  return { token: cookies["service_session"]?.value ?? "", refresh: cookies["service_refresh"]?.value ?? "" };
}

/** Refreshes from an address of its own, so that the limit is not what the tests meet. */
function refresh(credential: string, headers: Record<string, string> = { origin: service.url }) {
  addresses += 1;
  const address = { "cf-connecting-ip": `172.16.${addresses >> 8}.${addresses & 255}` };
  return caller(service, address).call("POST", REFRESH, undefined, {
    cookie: `service_refresh=${credential}`,
    ...headers,
  });
}

const me = (token: string) => caller(service).call("GET", ME, undefined, { authorization: `Bearer ${token}` });

/** Expects the one answer to every failed refresh. */
function expectRefused(answer: Awaited<ReturnType<typeof refresh>>): void {
  expect([answer.status, answer.body["code"]]).toEqual([401, "invalid_refresh"]);
  expect(cookiesOf(answer)).toEqual({
    service_session: { value: "", attributes: ["HttpOnly", "Max-Age=0", "Path=/", "SameSite=Lax"] },
    service_refresh: {
      value: "",
      attributes: ["HttpOnly", "Max-Age=0", "Path=/api/v1/auth/refresh", "SameSite=Lax"],
    },
  });
}

describe("refresh", () => {
  it("replaces both credentials and keeps the session", async () => {
    const first = await signIn();
    const answer = await refresh(first.refresh);
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    const second = deviceOf(answer);
    expect(second.refresh).toMatch(/^[\w-]{43}$/);
    expect(new Set([first.refresh, second.refresh, first.token, second.token]).size).toBe(4);
    expect(await Promise.all([first.token, second.token].map(async (token) => (await me(token)).status))).toEqual([
      200, 200,
    ]);
  });

  it("refuses a replayed credential and ends the whole session, its newest credentials included", async () => {
    const [first, other] = [await signIn(), await signIn()];
    const second = deviceOf(await refresh(first.refresh));
    const third = deviceOf(await refresh(second.refresh));
    expectRefused(await refresh(first.refresh));
    expectRefused(await refresh(third.refresh));
    for (const { token } of [first, second, third]) expect((await me(token)).status).toBe(401);
    expect((await me(other.token)).status, "other devices go on").toBe(200);
    expect((await refresh(other.refresh)).status).toBe(200);
  });

  it("lets at most one of 20 uses at once succeed, and nothing of the session lives on", async () => {
    const device = await signIn();
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(device.refresh)));
    const successes = answers.filter(({ status }) => status === 200);
    expect(successes.length).toBeLessThanOrEqual(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectRefused(answer);
    for (const { token, refresh: credential } of [device, ...successes.map(deviceOf)]) {
      expect((await me(token)).status).toBe(401);
      expectRefused(await refresh(credential));
    }
  });

  it.each(["", "unknown", "x".repeat(5000)])(
    "refuses an unknown credential and clears both cookies",
    async (credential) => {
      expectRefused(await refresh(credential));
    },
  );

  it("refuses a request without the cookie, whatever else it carries", async () => {
    const { token } = await signIn();
    expectRefused(await caller(service).call("POST", REFRESH, undefined, { authorization: `Bearer ${token}` }));
  });

  it("counts 30 days from the last refresh", async () => {
    const first = await signIn();
    clock += 30 * DAY - 1;
    const second = deviceOf(await refresh(first.refresh));
    clock += 30 * DAY - 1;
    const third = deviceOf(await refresh(second.refresh));
    clock += 30 * DAY;
    expectRefused(await refresh(third.refresh));
  });

  it.each<[string, Record<string, string>]>([
    ["no header of a browser", {}],
    ["its own page", { "sec-fetch-site": "same-origin" }],
  ])(
    "takes a request without Origin that no other site's page sent, by its credential alone: %s",
    async (_, headers) => {
      expect((await refresh((await signIn()).refresh, headers)).status).toBe(200);
      expectRefused(await refresh("unknown", headers));
    },
  );

  it.each<[string, Record<string, string>]>([
    ["a page of which only Sec-Fetch-Site tells", { "sec-fetch-site": "cross-site" }],
    ["a foreign Origin", { origin: "https://evil.example" }],
    ["an opaque Origin", { origin: "null" }],
  ])("refuses another site's request and leaves the credential good: %s", async (_, headers) => {
    const device = await signIn();
    const answer = await refresh(device.refresh, headers);
    expect([answer.status, answer.body["code"]]).toEqual([403, "cross_site_request"]);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await refresh(device.refresh)).status).toBe(200);
  });
});

/** Sends one command to the service's Redis, past the service. */
async function redis<T>(command: (string | number)[]): Promise<T> {
  const { UPSTASH_REDIS_REST_URL: url = "", UPSTASH_REDIS_REST_TOKEN: token = "" } = service.settings;
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(command),
  });
  return ((await response.json()) as { result: T }).result;
}

/** For how many seconds a token's session is on the denylist. */
function denied(token: string): Promise<number> {
  return redis(["TTL", `deny:session:${String(decodeJwt(token)["sid"])}`]);
}

/** Expects the one answer to every logout. */
function expectSignedOut(answer: Awaited<ReturnType<typeof refresh>>): void {
  expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
  const cleared = Object.entries(cookiesOf(answer)).map(([name, { value, attributes }]) => [
    name,
    value,
    attributes[1],
  ]);
  expect(cleared).toEqual([
    ["service_session", "", "Max-Age=0"],
    ["service_refresh", "", "Max-Age=0"],
  ]);
}

describe("logout", () => {
  const logout = (headers: Record<string, string>) => caller(service).call("POST", LOGOUT, undefined, headers);

  it("ends the cookie's session first, where a bearer token comes along", async () => {
    const [cookie, bearer] = [await signIn(), await signIn()];
    const headers = { cookie: `service_session=${cookie.token}`, authorization: `Bearer ${bearer.token}` };
    const answer = await logout({ ...headers, origin: service.url });
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect(Object.values(cookiesOf(answer)).map(({ value, attributes }) => value + attributes[1])).toEqual([
      "Max-Age=0",
      "Max-Age=0",
    ]);
    expect((await me(cookie.token)).status).toBe(401);
    expect((await me(bearer.token)).status).toBe(200);
  });

  it("ends the bearer's session where no cookie comes, and its refresh credential, but no other device", async () => {
    const [device, other] = [await signIn(), await signIn()];
    expect((await logout({ authorization: `Bearer ${device.token}` })).status).toBe(200);
    expect((await me(device.token)).status).toBe(401);
    expectRefused(await refresh(device.refresh));
    expect((await me(other.token)).status).toBe(200);
    expect((await refresh(other.refresh)).status).toBe(200);
  });

  it("ends every access token of the session, also those from before the last refresh", async () => {
    const device = await signIn();
    const next = deviceOf(await refresh(device.refresh));
    expect((await logout({ authorization: `Bearer ${next.token}` })).status).toBe(200);
    expect((await me(device.token)).status).toBe(401);
  });

  it.each<[string, (token: string) => Record<string, string>]>([
    ["nothing", () => ({})],
    ["a cookie that is no token", () => ({ cookie: "service_session=stale" })],
    ["a bearer token that is none", () => ({ authorization: "Bearer stale" })],
    ["another scheme", () => ({ authorization: "Basic eDp5" })],
    ["an API key that is none", () => ({ "x-api-key": newApiKey(), authorization: `Bearer ${newApiKey()}` })],
    ["a token whose signature was changed", (token) => ({ authorization: `Bearer ${token.slice(0, -4)}AAAA` })],
  ])("is answered alike with %s, clears both cookies and ends nothing", async (_, headers) => {
    const { token } = await signIn();
    const answer = await logout(headers(token));
    expectSignedOut(answer);
    expect((await me(token)).status).toBe(200);
  });

  it("is answered alike again, by the token that it ended", async () => {
    const { token } = await signIn();
    for (const _ of [1, 2, 3]) expectSignedOut(await logout({ authorization: `Bearer ${token}` }));
  });

  it("takes the bearer's session where the cookie is no token of ours", async () => {
    const { token } = await signIn();
    const headers = { cookie: "service_session=stale", authorization: `Bearer ${token}`, origin: service.url };
    expectSignedOut(await logout(headers));
    expect((await me(token)).status).toBe(401);
  });

  it.each(["cookie", "bearer"])("ends the session of a %s whose time is over", async (via) => {
    const [device, other] = [await signIn(), await signIn()];
    clock += DAY / 2;
    const headers: Record<string, string> =
      via === "cookie" ? { cookie: `service_session=${device.token}` } : { authorization: `Bearer ${device.token}` };
    expectSignedOut(await logout(headers));
    expectRefused(await refresh(device.refresh));
    expect((await refresh(other.refresh)).status).toBe(200);
  });

  it("by an older token ends the newer one for as long as that lives", async () => {
    const device = await signIn();
    clock += 890_000;
    const newer = deviceOf(await refresh(device.refresh));
    expectSignedOut(await logout({ authorization: `Bearer ${device.token}` }));
    expect(await denied(newer.token)).toBeGreaterThan(890);
  });

  it("by another site's page is refused, with the cookie and without", async () => {
    const { token } = await signIn();
    for (const cookie of [{ cookie: `service_session=${token}` }, {}]) {
      const answer = await logout({ ...cookie, origin: "https://evil.example" });
      expect([answer.status, answer.body["code"], answer.headers.getSetCookie()]).toEqual([
        403,
        "cross_site_request",
        [],
      ]);
    }
    expect((await me(token)).status).toBe(200);
  });

  it("costs one statement and two requests to Redis, and the token's check none of its own", async () => {
    const { token } = await signIn();
    await me(token);
    await service.settled();
    service.counters.reset();
    await logout({ authorization: `Bearer ${token}` });
    await service.settled();
    expect(service.counters.snapshot()).toMatchObject({ db: { requests: 1, statements: 1 }, redis: { requests: 2 } });
    service.counters.reset();
    expect((await me(token)).status).toBe(401);
    expect(service.counters.snapshot()).toMatchObject({ db: { requests: 1, statements: 1 }, redis: { requests: 0 } });
  });

  it.each([
    ["ended", "update sessions set revoked_at = now() where id = $1"],
    ["over", "update sessions set expires_at = '2000-01-01' where id = $1"],
    ["gone with its row", "delete from sessions where id = $1"],
  ])(
    "of a session that is %s holds at once for what reads by one statement, though the denylist never hears of it",
    async (_how, end) => {
      const { token } = await signIn();
      const read = (path: string) => caller(service).call("GET", path, undefined, { authorization: `Bearer ${token}` });
      const paths = [ME, "/api/v1/agents", "/api/v1/runs?mine=true", "/api/v1/leaderboard"];
      const statuses = async () => await Promise.all(paths.map(async (path) => (await read(path)).status));
      expect(await statuses()).toEqual(paths.map(() => 200));
      await service.sql(end, [decodeJwt(token)["sid"]]);
      expect(await statuses()).toEqual(paths.map(() => 401));
    },
  );

  it.each(["down", "hang", "error"] as const)("holds for tokens from before while Redis is %s", async (mode) => {
    const [out, still] = [await signIn(), await signIn()];
    expect((await logout({ authorization: `Bearer ${out.token}` })).status).toBe(200);
    service.faults.set({ service: "redis", mode });
    expect((await me(out.token)).status).toBe(401);
    expect((await me(still.token)).status).toBe(200);
  });

  it.each(["down", "hang", "error"] as const)("works while Redis is %s, at once and once it is back", async (mode) => {
    const device = await signIn();
    service.faults.set({ service: "redis", mode });
    expect((await logout({ authorization: `Bearer ${device.token}` })).status).toBe(200);
    expect((await me(device.token)).status).toBe(401);
    service.faults.set({ service: "redis", mode: "none" });
    expect((await me(device.token)).status, "in the minute after").toBe(401);
    await service.app.scheduled("* * * * *");
    expect((await me(device.token)).status).toBe(401);
    expectRefused(await refresh(device.refresh));
  });

  it("holds for writes in an isolate that saw nothing of the outage", async () => {
    const another = createApplication(service.settings, { now: () => new Date(clock), log: () => {} });
    const write = (token: string, headers: Record<string, string> = {}) => {
      const init = {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
        body: JSON.stringify({ name: `written ${randomUUID()}`, connection_mode: "mock" }),
      };
      const execution = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} };
      return another.fetch(new Request(`${service.url}/api/v1/agents`, init), {}, execution);
    };
    const [out, still] = [await signIn(), await signIn()];
    await service.app.scheduled("* * * * *");
    service.faults.set({ service: "redis", mode: "down" });
    await logout({ authorization: `Bearer ${out.token}` });
    service.faults.set({ service: "redis", mode: "none" });
    expect(await denied(out.token), "Redis has not heard of it").toBeLessThan(0);
    for (const key of [{}, { "idempotency-key": randomUUID() }]) {
      expect((await write(out.token, key)).status).toBe(401);
      expect((await write(still.token, key)).status).toBe(201);
    }
    const [written] = await service.sql("select count(*)::int as agents from agents where user_id = $1", [user.id]);
    expect(written).toEqual({ agents: 2 });
  });

  it("holds though Redis lost everything it knew", async () => {
    const [out, still] = [await signIn(), await signIn()];
    await logout({ authorization: `Bearer ${out.token}` });
    await redis(["FLUSHALL"]);
    for (const _ of [1, 2]) {
      expect((await me(out.token)).status).toBe(401);
      expect((await me(still.token)).status).toBe(200);
      await service.settled();
    }
  });

  it("leaves Postgres out of it again once Redis is whole", async () => {
    const [out, still] = [await signIn(), await signIn()];
    service.faults.set({ service: "redis", mode: "down" });
    await logout({ authorization: `Bearer ${out.token}` });
    service.faults.set({ service: "redis", mode: "none" });
    // Reads nothing, so that the session has to be asked for by itself.
    const refused = (token: string) =>
      caller(service).call("POST", "/api/v1/webhooks", {}, { authorization: `Bearer ${token}` });
    const costs = [];
    for (const _ of [1, 2, 3]) {
      service.counters.reset();
      expect((await refused(still.token)).status).toBe(422);
      costs.push(service.counters.snapshot().db.requests);
      await service.settled();
    }
    // The first time the session and, after the answer, those that ended.
    expect(costs[0]).toBeGreaterThan(0);
    expect(costs.slice(1)).toEqual([0, 0]);
    expect((await refused(out.token)).status).toBe(401);
  });
});
