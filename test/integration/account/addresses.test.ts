import { createHash, scryptSync } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { createService } from "../../../functions/service.ts";
import { hasher } from "../../../shared/identity/sessions/familiar.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newSecrets, type Settings } from "../../stack/settings.ts";
import { addAgent, addSuite, startAgent } from "../runs/support.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Midnight, at which the hash of every address changes. */
const MIDNIGHT = Date.parse("2026-11-22T00:00:00.000Z");

let service: TestService;
let owner: User;
let endpoint: Consumer;
let agent: string;
let task: string;
let addresses = 0;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "enterprise" });
  endpoint = await startAgent();
  agent = await addAgent(owner, { endpoint: endpoint.url, allow_trial: true });
  task = (await addSuite(service, 1)).tasks[0] ?? "";
});

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: MIDNIGHT - HOUR }));
afterEach(() => void vi.useRealTimers());

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

const at = (ms: number) => vi.setSystemTime(MIDNIGHT + ms);

function newAddress(): string {
  addresses += 1;
  return `198.51.100.${addresses}`;
}

const by = (address: string) => caller(service, { "cf-connecting-ip": address });
const trial = (address: string, headers = {}) =>
  by(address).call("POST", "/api/v1/runs", { agent_id: agent, task_id: task }, headers);
const lead = (address: string, email: string) => by(address).call("POST", "/api/v1/billing/notify-me", { email });

/** Every text of the database and of Redis in which an address may be found again. */
async function kept(): Promise<string> {
  const rows = await service.sql(
    "select owner as t from allowances union all select paid_owner from runs union all select caller from idempotency_keys",
  );
  const { UPSTASH_REDIS_REST_URL: url = "", UPSTASH_REDIS_REST_TOKEN: token = "" } = service.settings;
  const init = { method: "POST", headers: { authorization: `Bearer ${token}` }, body: JSON.stringify(["KEYS", "*"]) };
  return JSON.stringify([rows, await (await fetch(url, init)).json()]);
}

/** How a hash of old was made of an address, and its likes: what anybody could try for all addresses there are. */
const guesses = (address: string) =>
  [address, `address:${address}`].map((text) => createHash("sha256").update(text).digest("hex").slice(0, 16));

describe("the hash of an address", () => {
  /** What the service makes of an address today, under these settings besides its own. */
  const hashes = (address: string, settings: Settings = {}) => {
    const { addressHash, addressHashBefore } = createService(
      { ...service.settings, ...settings },
      new Map(),
    ).addressHashes(address);
    return { addressHash, addressHashBefore };
  };

  it("is of no use without the log's key, changes every day, and is followed into the next", async () => {
    at(-1);
    const first = hashes("198.51.100.1");
    expect(first.addressHash).toMatch(/^[0-9a-f]{32}$/);
    expect(hashes("198.51.100.2").addressHash).not.toBe(first.addressHash);
    const { LOG_SIGNING_KEY = "" } = await newSecrets();
    expect(hashes("198.51.100.1", { LOG_SIGNING_KEY }).addressHash).not.toBe(first.addressHash);
    expect(hashes("2001:db8::1")).toEqual(hashes("2001:db8::2"));
    at(0);
    const second = hashes("198.51.100.1");
    expect(second.addressHashBefore).toBe(first.addressHash);
    expect(new Set([second.addressHash, first.addressHash, first.addressHashBefore]).size).toBe(3);
  });

  it.each([
    ["main", "2027"],
    ["2026-11-22", "prod"],
  ])("stays the same while the key %s is replaced by %s, and so does what is known of sign-ins", (old, fresh) => {
    const [a, b] = [old, fresh].map((name, n) => `${name}:${Buffer.alloc(32, n).toString("base64")}`);
    const seen = [`${a}`, `${a},${b}`, `${b},${a}`, `${b}`].map((DATA_ENCRYPTION_KEYS) => {
      const settings = { DATA_ENCRYPTION_KEY: "", DATA_ENCRYPTION_KEYS };
      const rotated = createService({ ...service.settings, ...settings }, new Map());
      const mark = hasher(rotated.context({ requestId: "sign-in", addressHash: null, defer: () => undefined }));
      return JSON.stringify([hashes("198.51.100.1", settings), mark("network 198.51.100")]);
    });
    expect(new Set(seen).size).toBe(1);
  });

  it("is all that is kept of whoever starts a trial, joins a list, fails to sign in or repeats a request", async () => {
    const address = newAddress();
    expect((await trial(address, { "idempotency-key": "once" })).status).toBe(202);
    expect((await lead(address, "lead@example.test")).status).toBe(200);
    await by(address).call("POST", "/api/v1/auth/login", { email: "nobody@example.test", password: "no password" });
    const texts = await kept();
    for (const guess of [address, ...guesses(address)]) expect(texts).not.toContain(guess);
    const { addressHash } = hashes(address);
    expect(texts.split(addressHash).length, "in allowances, run, replay and limits").toBeGreaterThan(6);
  });
});

describe("at midnight", () => {
  it("a sliding limit goes on: who has used it up waits as long as anybody", async () => {
    const address = newAddress();
    const login = () => by(address).call("POST", "/api/v1/auth/login", {});
    at(-2000);
    const before = await Promise.all(Array.from({ length: 10 }, login));
    at(1000);
    const after = [await login(), await login()];
    expect(before.map(({ status }) => status)).toEqual(before.map(() => 422));
    expect(after.map(({ status }) => status)).toContain(429);
    at(MINUTE + 1000);
    expect((await login()).status).toBe(422);
  });

  it("what was used in the first minute counts in the second", async () => {
    const address = newAddress();
    const login = () => by(address).call("POST", "/api/v1/auth/login", {});
    at(MINUTE - 2000);
    await Promise.all(Array.from({ length: 10 }, login));
    at(MINUTE + 1000);
    expect([(await login()).status, (await login()).status]).toContain(429);
  });

  it("the lockout of an address goes on", async () => {
    const address = newAddress();
    // Hashes that are quick to check, since many attempts follow.
    const key = scryptSync("the password", Buffer.alloc(16), 32, { N: 16, r: 8, p: 1 }).toString("base64");
    await service.sql(
      "insert into users (email, password_hash) select 'locked' || n || '@example.test', $1 from generate_series(0, 51) n",
      [`$scrypt$ln=4,r=8,p=1$${"A".repeat(22)}$${key.replace("=", "")}`],
    );
    const fail = (n: number) =>
      by(address).call("POST", "/api/v1/auth/login", { email: `locked${n}@example.test`, password: "no password" });
    // Ten a minute is the limit of the address, and the window slides.
    for (let turn = 0; turn < 5; turn += 1) {
      at(2 * (turn - 5) * MINUTE);
      const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => fail(10 * turn + n)));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
    }
    at(4 * MINUTE);
    const locked = await fail(50);
    expect([locked.status, locked.body.code]).toEqual([429, "login_locked"]);
    at(6 * MINUTE);
    expect((await fail(51)).status).toBe(401);
  });

  it("a request that was answered before is answered again as it was, and does nothing", async () => {
    const address = newAddress();
    const key = { "idempotency-key": "over-midnight" };
    at(-1000);
    const first = await trial(address, key);
    at(1000);
    const again = await trial(address, key);
    expect([first.status, again.status, again.body.id]).toEqual([202, 202, first.body.id]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect((await trial(newAddress(), key)).headers.get("idempotency-replayed")).toBeNull();
  });

  it("the allowance of the day begins anew, and not before", async () => {
    const address = newAddress();
    at(-1000);
    const statuses = [];
    for (let n = 0; n < 6; n += 1) statuses.push((await trial(address)).status);
    at(0);
    statuses.push((await trial(address)).status);
    expect(statuses).toEqual([202, 202, 202, 202, 202, 402, 202]);
  });
});

describe("once the day of an allowance is over", () => {
  it("no hash of an address is left in the database, and of the day that goes on all are", async () => {
    const address = newAddress();
    await trial(address);
    await lead(address, "later@example.test");
    const count = async () => {
      await service.settled();
      await service.app.scheduled(DAILY);
      const [row] = await service.sql<{ runs: number; allowances: number; trials: number }>(
        `select (select count(*) from runs where paid_owner is not null and paid_kind = 'trial_address')::int as runs,
           (select count(*) from allowances where kind in ('trial_address', 'lead_source'))::int as allowances,
           (select count(*) from runs where paid_kind = 'trial_address')::int as trials`,
      );
      return row;
    };
    const before = await count();
    expect(before?.runs).toBeGreaterThan(0);
    expect(before?.allowances).toBeGreaterThan(1);
    // The other tests of this file went on into the second day.
    at(24 * HOUR + 3 * HOUR);
    expect(await count()).toEqual({ runs: 0, allowances: 0, trials: before?.trials });
  });
});
