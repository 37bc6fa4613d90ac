import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Answer, type Caller, caller, newUser, PASSWORD, stranger, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";

let service: TestService;
let owner: User;
let anonymous: Caller;
let agentId: string;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "pro" });
  anonymous = caller(service);
  agentId = (await owner.call("POST", "/api/v1/agents", { name: "stays" })).body.id;
});

afterEach(() => service.faults.set({ service: "db", mode: "none" }));

afterAll(() => service.stop());

/** Expects the 503 of a database that does not answer, which tells what to do and nothing of what is behind it. */
function expectUnavailable(answer: Answer<{ code: string }>): void {
  expect([answer.status, answer.body.code]).toEqual([503, "dependency_unavailable"]);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(answer.headers.get("x-request-id")).not.toBeNull();
  expectNothingLeaked(answer);
}

function expectNothingLeaked({ text, headers }: Answer<unknown>): void {
  const said = `${text} ${JSON.stringify([...headers])}`;
  expect(said).not.toMatch(
    /neon|postgres|select |insert |update |drizzle|localtest|fetch failed|ECONN|stack|\.ts\b|db fault|connection closed|SyntaxError|can't be read/i,
  );
}

const requests = (): Promise<Answer<{ code: string }>>[] => [
  owner.call("GET", "/api/v1/auth/me"),
  owner.call("GET", "/api/v1/agents"),
  owner.call("POST", "/api/v1/agents", { name: randomUUID() }),
  owner.call("PATCH", `/api/v1/agents/${agentId}`, { description: "changed" }),
  owner.call("DELETE", `/api/v1/agents/${agentId}`),
  owner.call("POST", "/api/v1/runs/batch", { agent_id: agentId }),
  anonymous.call("GET", `/api/v1/agents/${agentId}`),
  anonymous.call("GET", `/api/v1/tasks?page=${requestCount()}`),
  stranger(service).call("POST", "/api/v1/auth/register", {
    email: `${randomUUID()}@example.test`,
    password: "correct horse",
  }),
  stranger(service).call("POST", "/api/v1/auth/login", { email: owner.email, password: "correct horse battery" }),
];

let count = 1;
/** A page that no earlier answer was kept for. */
const requestCount = () => (count += 1);

const state = () =>
  service.sql(
    `select (select count(*) from agents) agents, (select count(*) from users) users,
    (select count(*) from sessions) sessions, (select count(*) from runs) runs,
    (select description from agents where id = $1) description`,
    [agentId],
  );

describe("without the database", () => {
  it.each(["down", "error", "garbage", "severed"] as const)(
    "reads and writes are 503, and nothing is written: %s",
    async (mode) => {
      const before = await state();
      service.faults.set({ service: "db", mode });
      for (const answer of await Promise.all(requests())) expectUnavailable(answer);
      service.faults.set({ service: "db", mode: "none" });
      expect(await state()).toEqual(before);
      expect((await owner.call("GET", "/api/v1/auth/me")).status).toBe(200);
    },
  );

  it("reads and writes are 503 within 30 seconds when it hangs", { timeout: 40_000 }, async () => {
    const before = await state();
    service.faults.set({ service: "db", mode: "hang" });
    const start = performance.now();
    for (const answer of await Promise.all(requests())) expectUnavailable(answer);
    expect(performance.now() - start).toBeLessThan(30_000);
    expect(await state()).toEqual(before);
  });

  it("a refresh is 503, and keeps the cookies and the credential", async () => {
    const signedIn = await anonymous.call("POST", "/api/v1/auth/login", {
      email: owner.email,
      password: "correct horse battery",
    });
    const credential = /service_refresh=([^;]+)/.exec(signedIn.headers.getSetCookie().join())?.[1];
    const headers = { cookie: `service_refresh=${credential}`, origin: service.url };
    const refresh = () => anonymous.call("POST", "/api/v1/auth/refresh", undefined, headers);
    service.faults.set({ service: "db", mode: "down" });
    const refused = await refresh();
    expectUnavailable(refused);
    expect(refused.headers.getSetCookie()).toEqual([]);
    service.faults.set({ service: "db", mode: "none" });
    expect((await refresh()).status).toBe(200);
  });

  it.each([
    ["its storage does not answer", "58030"],
    ["it is going down", "57P01"],
  ])("a write is 503 where the database says that %s", async (_what, code) => {
    await service.sql(`create function fail() returns trigger language plpgsql as $$
      begin raise 'fault' using errcode = '${code}'; end $$`);
    await service.sql("create trigger fail before insert on agents execute function fail()");
    expectUnavailable(await owner.call("POST", "/api/v1/agents", { name: randomUUID() }));
    await service.sql("drop function fail cascade");
  });

  it("what needs none is answered", async () => {
    service.faults.set({ service: "db", mode: "down" });
    for (const path of ["/healthz", "/openapi.json", "/.well-known/jwks.json"]) {
      expect((await anonymous.call("GET", path)).status).toBe(200);
    }
    expect((await anonymous.call("GET", "/nowhere")).status).toBe(404);
  });

  it.each(["lost", "truncated"] as const)(
    "an answer that was %s after the commit is found again by its idempotency key",
    async (mode) => {
      const name = `${mode} and found`;
      const create = () => owner.call("POST", "/api/v1/agents", { name }, { "idempotency-key": `${mode}-1` });
      service.faults.set({ service: "db", mode, count: 1 });
      expectUnavailable(await create());
      const again = await create();
      expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
      expect(await service.sql("select from agents where name = $1", [name])).toHaveLength(1);
    },
  );
});

describe("an isolate that is busy itself", () => {
  it("signs a caller in, though the store's answer had to wait longer than the store may take", async () => {
    service.faults.set({ service: "redis", mode: "hang", ms: 200 });
    const before = service.counters.redis.requests;
    const login = anonymous.call("POST", "/api/v1/auth/login", { email: owner.email, password: PASSWORD });
    // The second request, after the limiter's, is that of the lockout, without which nobody is let in.
    await vi.waitUntil(() => service.counters.redis.requests === before + 2, { timeout: 10_000, interval: 1 });
    const until = performance.now() + 1200;
    // As a burst of password hashes does: neither the timers nor the network get their turn.
    while (performance.now() < until);
    expect((await login).status).toBe(200);
    service.faults.set({ service: "redis", mode: "none" });
  });
});

describe("a fault of our own", () => {
  it("is 500 internal_error, tells nothing, and is logged under the request's id without the caller's data", async () => {
    await service.sql("alter table agents rename column description to gone");
    const secret = "what the caller wrote";
    const answer = await owner.call("POST", "/api/v1/agents", { name: secret }, { "x-request-id": "ours-1" });
    await service.sql("alter table agents rename column gone to description");
    expect([answer.status, answer.body.code, answer.body.request_id]).toEqual([500, "internal_error", "ours-1"]);
    expectNothingLeaked(answer);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    const logged = service.logs.filter((line) => line.includes("ours-1")).join();
    expect(logged).toContain("42703");
    expect(logged).not.toContain(secret);
  });
});
