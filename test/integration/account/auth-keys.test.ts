import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newApiKey } from "../../../shared/identity/api-keys/api-key.ts";
import { sha256 } from "../../../shared/platform/crypto.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { leastTime } from "../../stack/least-time.ts";
import { startService, type TestService } from "../../stack/service.ts";

const ME = "/api/v1/auth/me";
const DAY = 86_400_000;
/** 20 seconds before a minute ends, and an hour before the day does. */
const START = Date.parse("2026-11-21T22:59:40.000Z");

let service: TestService;
let owner: User;
let clock = START;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(clock) } });
  owner = await newUser(service, { plan: "pro" });
});

beforeEach(() => {
  clock = START;
  service.faults.set({ service: "redis", mode: "none" });
});

afterAll(() => service.stop());

interface KeyOptions {
  scope?: "read" | "write";
  perMinute?: number;
  perDay?: number;
  expiresAt?: Date;
  revoked?: boolean;
}

async function makeKey(options: KeyOptions = {}): Promise<string> {
  const key = newApiKey();
  await service.sql(
    `insert into api_keys (user_id, name, prefix, key_hash, scope, rate_limit_per_minute, quota_per_day, expires_at, revoked_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      owner.id,
      randomUUID(),
      key.slice(0, 12),
      sha256(key),
      options.scope ?? "read",
      options.perMinute ?? 60,
      options.perDay ?? 10_000,
      options.expiresAt ?? null,
      options.revoked === true ? new Date(clock) : null,
    ],
  );
  return key;
}

const holder = (key: string, more: Record<string, string> = {}): Caller =>
  caller(service, { "x-api-key": key, ...more });

describe("an API key", () => {
  it.each([
    ["X-API-Key", (key: string) => ({ "x-api-key": key })],
    ["Authorization", (key: string) => ({ authorization: `Bearer ${key}` })],
  ])("speaks for its owner in %s", async (_, headers) => {
    const answer = await caller(service, headers(await makeKey())).call("GET", ME);
    expect([answer.status, answer.body.id]).toEqual([200, owner.id]);
  });

  it("reads and writes as its scope says", async () => {
    const [reader, writer] = [holder(await makeKey()), holder(await makeKey({ scope: "write" }))];
    const create = (by: Caller) => by.call("POST", "/api/v1/agents", { name: randomUUID() });
    const refused = await create(reader);
    expect([refused.status, refused.body.code]).toEqual([403, "insufficient_scope"]);
    expect((await create(writer)).status).toBe(201);
    for (const by of [reader, writer]) expect((await by.call("GET", "/api/v1/agents")).status).toBe(200);
  });

  it.each(["read", "write"] as const)("is not enough where a session is needed: scope %s", async (scope) => {
    const answer = await holder(await makeKey({ scope })).call("GET", "/api/v1/auth/sessions");
    expect([answer.status, answer.body.code]).toEqual([403, "session_required"]);
  });

  it("is refused when it is revoked, expired or unknown", async () => {
    const keys = [await makeKey({ revoked: true }), await makeKey({ expiresAt: new Date(clock) }), newApiKey()];
    for (const key of keys) {
      const answer = await holder(key).call("GET", ME);
      expect([answer.status, answer.body.code]).toEqual([401, "unauthenticated"]);
    }
  });

  it("stops when it expires, though it was used and remembered before", async () => {
    const by = holder(await makeKey({ expiresAt: new Date(START + 5000) }));
    expect((await by.call("GET", ME)).status).toBe(200);
    clock = START + 4999;
    expect((await by.call("GET", ME)).status).toBe(200);
    clock = START + 5000;
    expect((await by.call("GET", ME)).status).toBe(401);
  });

  it("is refused without a look-up when form or checksum are wrong", async () => {
    const good = newApiKey();
    const last = good.at(-1) === "0" ? "1" : "0";
    const forms = [good.slice(0, -1) + last, good.slice(0, -1), `${good}0`, good.toUpperCase(), "ask_", "anything"];
    service.counters.reset();
    for (const key of forms) expect((await holder(key).call("GET", ME)).status, key).toBe(401);
    expect(service.counters.db.requests).toBe(0);
  });

  it("is looked up in the database once, then remembered", async () => {
    const by = holder(await makeKey());
    await by.call("GET", "/api/v1/agents/not-an-id");
    await service.settled();
    service.counters.reset();
    await by.call("GET", "/api/v1/agents/not-an-id");
    expect([service.counters.db.requests, service.counters.redis.requests]).toEqual([0, 1]);
  });
});

describe("a key's quotas", () => {
  const standing = (headers: Headers) => [headers.get("ratelimit-policy"), headers.get("ratelimit")];

  it("stand in the headers of every answer, and the minute's refuses until the minute ends", async () => {
    const by = holder(await makeKey({ perMinute: 3, perDay: 100 }));
    const policy = '"minute";q=3;w=60,"day";q=100;w=86400';
    for (const [left, ofDay] of [
      [2, 99],
      [1, 98],
      [0, 97],
    ]) {
      const answer = await by.call("GET", ME);
      expect([answer.status, ...standing(answer.headers)]).toEqual([
        200,
        policy,
        `"minute";r=${left};t=20,"day";r=${ofDay};t=3620`,
      ]);
    }
    const refused = await by.call("GET", ME);
    expect([refused.status, refused.body.code, refused.headers.get("retry-after")]).toEqual([
      429,
      "rate_limited",
      "20",
    ]);
    expect(standing(refused.headers)[0]).toBe(policy);
    expect(standing(refused.headers)[1]).toMatch(/^"minute";r=0;t=20,"day";r=\d+;t=3620$/);
    clock = START + 20_000;
    const next = await by.call("GET", ME);
    expect([next.status, next.headers.get("ratelimit")]).toEqual([200, '"minute";r=2;t=60,"day";r=96;t=3600']);
  });

  it("refuse for the rest of the day (UTC) when the day's is used up", async () => {
    const by = holder(await makeKey({ perMinute: 10, perDay: 2 }));
    for (let used = 0; used < 2; used += 1) expect((await by.call("GET", ME)).status).toBe(200);
    const refused = await by.call("GET", ME);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "3620"]);
    clock = Math.ceil(START / DAY) * DAY - 1;
    expect((await by.call("GET", ME)).status).toBe(429);
    clock += 1;
    expect((await by.call("GET", ME)).status).toBe(200);
  });

  it("let exactly as many through as they say when requests come at once", async () => {
    const by = holder(await makeKey({ perMinute: 7 }));
    const answers = await Promise.all(Array.from({ length: 20 }, () => by.call("GET", ME)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(13);
  });

  it("are counted instead of the address's bucket", async () => {
    const address = { "cf-connecting-ip": "172.18.0.1" };
    const by = holder(await makeKey({ scope: "write", perMinute: 1000 }), address);
    const writes = await Promise.all(
      Array.from({ length: 70 }, () => by.call("DELETE", `/api/v1/agents/${randomUUID()}`)),
    );
    expect(new Set(writes.map(({ status }) => status))).toEqual(new Set([404]));
    const anonymous = await caller(service, address).call("DELETE", `/api/v1/agents/${randomUUID()}`);
    expect([anonymous.status, anonymous.headers.get("ratelimit-policy")]).toEqual([401, '"minute";q=60;w=60']);
    expect(anonymous.headers.get("ratelimit")).toMatch(/^"minute";r=59;t=\d+$/);
  });

  it("of a bad key leave the address's bucket to count", async () => {
    const answer = await holder(newApiKey(), { "cf-connecting-ip": "172.18.0.2" }).call("GET", ME);
    expect(answer.headers.get("ratelimit")).toMatch(/^"minute";r=299;t=\d+$/);
  });
});

describe("without Redis", () => {
  it.each(["down", "hang", "error"] as const)(
    "keys work, and the database refuses what is revoked: %s",
    async (mode) => {
      const [good, revoked] = [await makeKey(), await makeKey()];
      for (const key of [good, revoked]) expect((await holder(key).call("GET", ME)).status).toBe(200);
      await service.sql("update api_keys set revoked_at = now() where key_hash = $1", [sha256(revoked)]);
      service.faults.set({ service: "redis", mode });
      const called = async () => expect((await holder(good).call("GET", ME)).status).toBe(200);
      expect(await leastTime(1200, called)).toBeLessThan(1200);
      expect((await holder(revoked).call("GET", ME)).status).toBe(401);
    },
  );
});
