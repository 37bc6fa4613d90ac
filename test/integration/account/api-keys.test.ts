import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isApiKey } from "../../../shared/identity/api-keys/api-key.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { range, tally, unique } from "../runs/support.ts";

const KEYS = "/api/v1/api-keys";
const ME = "/api/v1/auth/me";
const START = Date.parse("2026-11-21T09:00:10.000Z");

let service: TestService;
let owner: User;
let other: User;
let clock = START;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(clock) } });
});

afterAll(() => service.stop());

beforeEach(async () => {
  clock = START;
  [owner, other] = [await newUser(service), await newUser(service)];
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
const names = (body: { items: { name: string }[] }): string[] => body.items.map(({ name }) => name);

describe("creating a key", () => {
  it("shows the key once, stores its hash alone, and gives its address", async () => {
    const { status, headers, body } = await owner.call("POST", KEYS, { name: " CI ", scope: "write" });
    expect(status).toBe(201);
    const { id, key, created_at: createdAt, ...rest } = body;
    expect(isApiKey(key)).toBe(true);
    expect(headers.get("location")).toBe(`${KEYS}/${id}`);
    expect(rest).toEqual({
      team_id: null,
      name: "CI",
      prefix: key.slice(0, 12),
      scope: "write",
      scopes: ["agents:write", "runs:write"],
      rate_limit_per_minute: 60,
      quota_per_day: 10_000,
      last_used_at: null,
      expires_at: null,
      revoked_at: null,
    });
    const read = await owner.call("GET", `${KEYS}/${id}`);
    expect(read.body).toEqual({ id, created_at: createdAt, ...rest });
    const [row] = await service.sql<{ row: string }>("select k::text as row from api_keys k where id = $1", [id]);
    expect(row?.row).not.toContain(key.slice(12));
    expect(await use(key)).toBe(200);
  });

  it.each([
    ["no name", { scope: "read" }],
    ["an empty name", { name: " ", scope: "read" }],
    ["a long name", { name: "x".repeat(121), scope: "read" }],
    ["no scope", { name: "k" }],
    ["an unknown scope", { name: "k", scope: "admin" }],
    ["0 a minute", { name: "k", scope: "read", rate_limit_per_minute: 0 }],
    ["6,001 a minute", { name: "k", scope: "read", rate_limit_per_minute: 6001 }],
    ["a fraction a minute", { name: "k", scope: "read", rate_limit_per_minute: 1.5 }],
    ["0 a day", { name: "k", scope: "read", quota_per_day: 0 }],
    ["1,000,001 a day", { name: "k", scope: "read", quota_per_day: 1_000_001 }],
    ["an expiry that is now", { name: "k", scope: "read", expires_at: new Date(START).toISOString() }],
    ["an expiry in the year 10000", { name: "k", scope: "read", expires_at: "9999-12-31T23:59:59-00:01" }],
    ["an expiry that is no time", { name: "k", scope: "read", expires_at: "2026-02-30T00:00:00Z" }],
    ["a field that is not known", { name: "k", scope: "read", key: "ask_mine" }],
  ])("is refused with %s", async (_what, body) => {
    const answer = await owner.call("POST", KEYS, body);
    expect([answer.status, answer.body.errors.length]).toEqual([422, 1]);
    expect((await owner.call("GET", KEYS)).body.total).toBe(0);
  });

  it("takes the bounds of both limits, and an expiry in any zone", async () => {
    const low = { rate_limit_per_minute: 1, quota_per_day: 1, expires_at: "2026-11-21T11:00:10.001+02:00" };
    expect(await issue(low)).toMatchObject({ ...low, expires_at: "2026-11-21T09:00:10.001Z" });
    const high = { rate_limit_per_minute: 6000, quota_per_day: 1_000_000, expires_at: "9999-12-31T23:59:59.9999999Z" };
    expect(await issue(high)).toMatchObject({ ...high, expires_at: "9999-12-31T23:59:59.999Z" });
  });

  it("refuses a name that another key has, in any case, until that one is revoked", async () => {
    const { id } = await issue({ name: "Deploy" });
    const again = () => owner.call("POST", KEYS, { name: "DEPLOY", scope: "read" });
    const refused = await again();
    expect([refused.status, refused.body.code]).toEqual([409, "duplicate_name"]);
    expect((await other.call("POST", KEYS, { name: "Deploy", scope: "read" })).status).toBe(201);
    await owner.call("DELETE", `${KEYS}/${id}`);
    expect((await again()).status).toBe(201);
  });

  it("gives the same record without the key to a repeated request, and makes no second one", async () => {
    const send = (name: string) =>
      owner.call("POST", KEYS, { name, scope: "read" }, { "idempotency-key": `${owner.id}-once` });
    const answers = [await send("Once"), await send("Once")];
    expect(answers.map(({ status, text }) => (status === 201 ? status : text))).toEqual([201, 201]);
    const [first, second] = answers.map(({ body }) => body);
    expect(second).toEqual({ ...first, key: null });
    expect(answers.map(({ headers }) => headers.get("idempotency-replayed"))).toEqual([null, "true"]);
    expect((await owner.call("GET", KEYS)).body.total).toBe(1);
    expect((await send("Twice")).body.code).toBe("idempotency_key_reused");
  });

  it("stops at 100 keys, whatever comes at once", async () => {
    await service.sql(
      `insert into api_keys (user_id, name, prefix, key_hash, scope, revoked_at)
       select $1, 'key ' || n, 'ask_', gen_random_uuid(), 'read', case when n > 90 then now() end
       from generate_series(1, 95) n`,
      [owner.id],
    );
    const answers = await Promise.all(
      range(20).map((n) => owner.call("POST", KEYS, { name: `more ${n}`, scope: "read" })),
    );
    expect(tally(answers)).toEqual({ 201: 10, 402: 10 });
    const refused = answers.find(({ status }) => status === 402);
    expect(refused?.body).toMatchObject({ code: "quota_exceeded", limit: 100, used: 100, resets_at: null });
  });
});

describe("the list of keys", () => {
  it("has the account's own alone: newest first, revoked ones last, in pages", async () => {
    const made: string[] = [];
    for (const name of ["a", "b", "c", "d"]) made.push((await issue({ name })).id);
    await owner.call("DELETE", `${KEYS}/${made[2]}`);
    await other.call("POST", KEYS, { name: "theirs", scope: "read" });
    const all = await owner.call("GET", KEYS);
    expect(names(all.body)).toEqual(["d", "b", "a", "c"]);
    expect(all.body.items.map(({ revoked_at }: { revoked_at: string | null }) => revoked_at)).toEqual([
      null,
      null,
      null,
      new Date(START).toISOString(),
    ]);
    expect(all.text).not.toMatch(/ask_[^"]{9}|hash/);
    const page = await owner.call("GET", `${KEYS}?page=2&page_size=3`);
    expect([page.body.total, names(page.body)]).toEqual([4, ["c"]]);
  });
});

describe("a key", () => {
  it.each([
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["POST", "/rotate"],
  ])("is 404 for another account: %s %s", async (method, path) => {
    const { id, key } = await issue();
    for (const target of [id, randomUUID()]) {
      const answer = await other.call(method, `${KEYS}/${target}${path}`, method === "PATCH" ? {} : undefined);
      expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
    }
    expect(await use(key)).toBe(200);
  });

  it.each([
    ["GET", ""],
    ["POST", ""],
    ["GET", "/id"],
    ["PATCH", "/id"],
    ["DELETE", "/id"],
    ["POST", "/id/rotate"],
  ])("does not manage keys, itself included: %s %s", async (method, path) => {
    const { id, key } = await issue({ scope: "write" });
    const answer = await holder(key).call(method, KEYS + path.replace("id", id), method === "GET" ? undefined : {});
    expect([answer.status, answer.body.code]).toEqual([403, "session_required"]);
  });

  it("tells when it was used, with one write a minute", async () => {
    const { id, key } = await issue({ rate_limit_per_minute: 100 });
    const lastUsed = async () => (await owner.call("GET", `${KEYS}/${id}`)).body.last_used_at;
    expect(await lastUsed()).toBeNull();
    service.counters.reset();
    const agent = () => holder(key).call("GET", "/api/v1/agents/not-an-id");
    for (let n = 0; n < 5; n += 1) await agent();
    await Promise.all(range(20).map(agent));
    await service.settled();
    // The look-up of the key, and the note of its use.
    expect(service.counters.db.requests).toBe(2);
    expect(await lastUsed()).toBe("2026-11-21T09:00:10.000Z");
    clock = START + 60_000;
    await agent();
    await service.settled();
    expect(await lastUsed()).toBe("2026-11-21T09:01:10.000Z");
  });
});
