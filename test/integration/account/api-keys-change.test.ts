import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { randomUUID } from "node:crypto";
import { createApplication } from "../../../functions/app.ts";
import { isApiKey } from "../../../shared/identity/api-keys/api-key.ts";
import { sha256 } from "../../../shared/platform/crypto.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { range, tally, unique } from "../runs/support.ts";

const KEYS = "/api/v1/api-keys";
const ME = "/api/v1/auth/me";
const START = Date.parse("2026-11-21T09:00:10.000Z");

let service: TestService;
let owner: User;
let clock = START;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(clock) } });
});

afterAll(() => service.stop());

beforeEach(async () => {
  clock = START;
  service.faults.set({ service: "redis", mode: "none" });
  owner = await newUser(service);
});

interface Issued {
  id: string;
  key: string;
}

async function issue(fields: object = {}): Promise<Issued> {
  const { status, body, text } = await owner.call("POST", KEYS, { name: unique("Key"), scope: "read", ...fields });
  if (status !== 201) throw new Error(text);
  return body;
}

const holder = (key: string): Caller => caller(service, { "x-api-key": key });
const use = async (key: string): Promise<number> => (await holder(key).call("GET", ME)).status;

describe("changing a key", () => {
  it("changes what is given and nothing else", async () => {
    const { id, key, ...rest } = await issue({ name: "Before" });
    const change = (body: object) => owner.call("PATCH", `${KEYS}/${id}`, body);
    for (const fields of [
      {},
      { name: "After" },
      { rate_limit_per_minute: 6000 },
      { quota_per_day: 1_000_000 },
      { expires_at: "2027-01-01T00:00:00.000Z" },
      { expires_at: null },
    ]) {
      Object.assign(rest, fields);
      const answer = await change(fields);
      expect([answer.status, answer.body]).toEqual([200, { id, ...rest }]);
    }
    expect(await use(key)).toBe(200);
  });

  it.each([
    [{ rate_limit_per_minute: 6001 }],
    [{ quota_per_day: 0 }],
    [{ name: "" }],
    [{ scope: "write" }],
    [{ expires_at: "2026-11-21T09:00:10.000Z" }],
  ])("is refused with %j", async (body) => {
    const { id } = await issue();
    expect((await owner.call("PATCH", `${KEYS}/${id}`, body)).status).toBe(422);
  });

  it("refuses the name of another key, and takes its own in another case", async () => {
    await issue({ name: "Taken" });
    const { id } = await issue({ name: "Mine" });
    const rename = (name: string) => owner.call("PATCH", `${KEYS}/${id}`, { name });
    const refused = await rename("tAKEN");
    expect([refused.status, refused.body.code]).toEqual([409, "duplicate_name"]);
    expect((await rename("MINE")).body.name).toBe("MINE");
  });

  it("counts from the next request on", async () => {
    const { id, key } = await issue({ rate_limit_per_minute: 2 });
    expect([await use(key), await use(key), await use(key)]).toEqual([200, 200, 429]);
    await owner.call("PATCH", `${KEYS}/${id}`, { rate_limit_per_minute: 3 });
    expect([await use(key), await use(key)]).toEqual([200, 429]);
    await owner.call("PATCH", `${KEYS}/${id}`, { rate_limit_per_minute: 100, expires_at: "2026-11-21T09:00:11Z" });
    expect(await use(key)).toBe(200);
    clock = START + 1000;
    expect(await use(key)).toBe(401);
    await owner.call("PATCH", `${KEYS}/${id}`, { expires_at: null });
    expect(await use(key)).toBe(200);
  });
});

describe("revoking a key", () => {
  it("ends it at once though it was remembered, can be repeated, and is final", async () => {
    const { id, key } = await issue();
    expect(await use(key)).toBe(200);
    const revoke = () => owner.call("DELETE", `${KEYS}/${id}`);
    expect((await revoke()).status).toBe(204);
    expect(await use(key)).toBe(401);
    clock = START + 5000;
    expect((await revoke()).status).toBe(204);
    expect((await owner.call("GET", `${KEYS}/${id}`)).body.revoked_at).toBe("2026-11-21T09:00:10.000Z");
    for (const [method, path] of [
      ["PATCH", ""],
      ["POST", "/rotate"],
    ] as const) {
      const answer = await owner.call(method, `${KEYS}/${id}${path}`, method === "PATCH" ? { name: "x" } : undefined);
      expect([answer.status, answer.body.code]).toEqual([409, "key_inactive"]);
    }
  });

  it("holds against requests that are under way: none that comes after it passes", async () => {
    for (const round of range(5)) {
      const { id, key } = await issue({ rate_limit_per_minute: 6000 });
      // Every second round races the first look-up, which remembers the key.
      if (round % 2 === 0) await use(key);
      const during = range(10).map(() => use(key));
      await owner.call("DELETE", `${KEYS}/${id}`);
      expect(await use(key)).toBe(401);
      await Promise.all(during);
      expect(await use(key), "what the others read is not remembered").toBe(401);
    }
  });

  it.each(["down", "hang", "error"] as const)(
    "works while Redis is %s, and makes good what Redis missed when it is repeated",
    async (mode) => {
      const { id, key } = await issue();
      expect(await use(key)).toBe(200);
      service.faults.set({ service: "redis", mode });
      expect((await owner.call("DELETE", `${KEYS}/${id}`)).status).toBe(204);
      expect(await use(key), "the database decides").toBe(401);
      service.faults.set({ service: "redis", mode: "none" });
      expect((await owner.call("DELETE", `${KEYS}/${id}`)).status).toBe(204);
      expect(await use(key)).toBe(401);
    },
  );
});

describe("a request whose body comes after its key has ended", () => {
  const AGENTS = "/api/v1/agents";

  /** Sends the headers of a request and the beginning of its body; the rest comes when the answer is asked for. */
  function begin(key: string, headers: Record<string, string>): () => Promise<Response> {
    const text = new TextEncoder().encode(JSON.stringify({ name: unique("Late"), connection_mode: "mock" }));
    const body = new TransformStream<Uint8Array, Uint8Array>();
    const writer = body.writable.getWriter();
    const app = createApplication(service.settings, { now: () => new Date(clock), log: () => {} });
    const execution = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} };
    const sent = { "x-api-key": key, "content-type": "application/json", ...headers };
    const init = { method: "POST", headers: sent, body: body.readable, duplex: "half" as const };
    const answer = app.fetch(new Request(service.url + AGENTS, init), {}, execution);
    const begun = writer.write(text.slice(0, 5));
    return async () => {
      await begun;
      await writer.write(text.slice(5));
      await writer.close();
      return answer;
    };
  }

  const ends: [string, (id: string) => Promise<unknown>][] = [
    ["it was revoked", (id) => owner.call("DELETE", `${KEYS}/${id}`)],
    ["it was rotated", (id) => owner.call("POST", `${KEYS}/${id}/rotate`)],
  ];

  it.each(ends)("makes nothing where %s", async (_how, end) => {
    for (const headers of [{}, { "idempotency-key": randomUUID() }]) {
      const { id, key } = await issue({ scope: "write" });
      const finish = begin(key, headers);
      const lastUsed = async (): Promise<string | null> => (await owner.call("GET", `${KEYS}/${id}`)).body.last_used_at;
      await vi.waitUntil(async () => (await lastUsed()) !== null, 10_000);
      await end(id);
      expect((await finish()).status).toBe(401);
    }
    expect(await service.sql("select from agents where user_id = $1", [owner.id])).toEqual([]);
  });

  it("is answered where it has not", async () => {
    const { key } = await issue({ scope: "write" });
    expect((await begin(key, {})()).status).toBe(201);
  });
});

describe("rotating a key", () => {
  it("gives a new key with the same settings, and ends the old one at once", async () => {
    const { id, key, ...rest } = await issue({ scope: "write", rate_limit_per_minute: 7 });
    expect(await use(key)).toBe(200);
    await service.settled();
    const answer = await owner.call("POST", `${KEYS}/${id}/rotate`);
    expect(answer.status).toBe(200);
    const { key: next, prefix, last_used_at: _used, ...kept } = answer.body;
    const { prefix: _prefix, last_used_at: _never, ...before } = rest as Record<string, unknown>;
    expect(kept).toEqual({ id, ...before });
    expect([isApiKey(next), prefix]).toEqual([true, next.slice(0, 12)]);
    expect([await use(key), await use(next)]).toEqual([401, 200]);
    expect((await owner.call("GET", KEYS)).body.total).toBe(1);
  });

  it("is refused for a key that has expired", async () => {
    const { id } = await issue({ expires_at: new Date(START + 1000).toISOString() });
    clock = START + 1000;
    const answer = await owner.call("POST", `${KEYS}/${id}/rotate`);
    expect([answer.status, answer.body.code]).toEqual([409, "key_inactive"]);
  });

  it("leaves exactly one living key of 20 rotations at once", async () => {
    const { id, key } = await issue();
    const answers = await Promise.all(range(20).map(() => owner.call("POST", `${KEYS}/${id}/rotate`)));
    expect(tally(answers)).toEqual({ 200: 20 });
    const keys = [key, ...answers.map(({ body }) => body.key as string)];
    expect(new Set(keys).size).toBe(21);
    const uses = await Promise.all(keys.map(use));
    expect(uses.filter((status) => status === 200)).toHaveLength(1);
    expect(uses.filter((status) => status === 401)).toHaveLength(20);
  });
});

describe("what Redis remembers of a key", () => {
  it("ends within a minute, so that a change which it missed is late by no more", async () => {
    const { id, key } = await issue();
    expect(await use(key)).toBe(200);
    service.faults.set({ service: "redis", mode: "down" });
    expect((await owner.call("DELETE", `${KEYS}/${id}`)).status).toBe(204);
    service.faults.set({ service: "redis", mode: "none" });
    const left = await redis("PTTL", `key:${sha256(key)}`);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(60_000);
  });

  it("is not put back by a request that read the key before the change", async () => {
    const { id, key } = await issue();
    const entry = `key:${sha256(key)}`;
    await owner.call("PATCH", `${KEYS}/${id}`, { rate_limit_per_minute: 50 });
    expect(await use(key)).toBe(200);
    expect(await redis("GET", entry)).toBe("changed");
    await redis("DEL", entry);
    expect(await use(key)).toBe(200);
    expect(JSON.parse(String(await redis("GET", entry)))).toMatchObject({ id, per_minute: 50 });
  });
});

/** What Redis answers to a command, whatever the service makes of it. */
async function redis(...command: string[]): Promise<unknown> {
  const { UPSTASH_REDIS_REST_URL: url = "", UPSTASH_REDIS_REST_TOKEN: token = "" } = service.settings;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(command) });
  return ((await response.json()) as { result: unknown }).result;
}
