import { randomUUID, scryptSync } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ADVICE } from "../../../functions/document/advice.ts";
import { type Answer, caller, PASSWORD } from "../../stack/client.ts";
import { range } from "../runs/support.ts";
import { startService, type TestService } from "../../stack/service.ts";

const MINUTE = 60_000;
/** The full minute at which each test starts; the limiter of the address counts by the machine's clock. */
const START = Date.parse("2026-11-21T09:00:00.000Z");

let service: TestService;
let days = 0;
let origin = START;
let addresses = 0;

beforeAll(async () => {
  service = await startService();
});

/** Makes an account with a hash of PASSWORD that is quick to check, since hundreds of attempts follow. */
async function newAccount(): Promise<string> {
  const email = `${randomUUID()}@example.test`;
  const key = scryptSync(PASSWORD, Buffer.alloc(16), 32, { N: 16, r: 8, p: 1 }).toString("base64");
  const phc = `$scrypt$ln=4,r=8,p=1$${"A".repeat(22)}$${key.replace("=", "")}`;
  await service.sql("insert into users (email, password_hash) values ($1, $2)", [email, phc]);
  return email;
}

beforeEach(() => {
  days += 1;
  origin = START + days * 24 * 60 * MINUTE;
  vi.useFakeTimers({ toFake: ["Date"], now: origin });
});

afterEach(() => void vi.useRealTimers());

afterAll(() => service.stop());

const at = (ms: number) => vi.setSystemTime(origin + ms);

function newAddress(): string {
  addresses += 1;
  return `172.17.${addresses >> 8}.${addresses & 255}`;
}

function attempt(
  email: string,
  { password = "wrong password", address = newAddress() } = {},
): Promise<Answer<{ code: string }>> {
  return caller(service, { "cf-connecting-ip": address }).call("POST", "/api/v1/auth/login", { email, password });
}

/** Fails `count` times at once from one address, each time on another account. */
async function fail(count: number, address: string): Promise<void> {
  const emails = await Promise.all(Array.from({ length: count }, newAccount));
  const answers = await Promise.all(emails.map((email) => attempt(email, { address })));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
}

function expectLocked(answers: Answer<{ code: string }>[]): void {
  for (const { status, text, body, headers } of answers) {
    expect([status, body.code]).toEqual([429, "login_locked"]);
    expect(text).toBe(answers[0]?.text);
    expect(Object.keys(body)).toEqual(["type", "title", "status", "detail", "code"]);
    expect([...headers.keys()].filter((name) => name.startsWith("ratelimit") || name === "retry-after")).toEqual([]);
    expect(ADVICE.login_locked).not.toContain("Retry-After");
    expect(headers.get("x-request-id")).not.toBeNull();
    expect(headers.getSetCookie()).toEqual([]);
  }
}

describe("five failures on an account within 15 minutes", () => {
  it("lock it for every address and the right password too, until the first failure is 15 minutes old", async () => {
    const email = await newAccount();
    for (const [index, form] of [email, email.toUpperCase(), ` ${email}`, email, email].entries()) {
      at(index * MINUTE);
      expect((await attempt(form)).status).toBe(401);
    }
    const locked = [await attempt(email), await attempt(email.toUpperCase(), { password: PASSWORD })];
    at(15 * MINUTE - 1);
    locked.push(await attempt(email, { password: PASSWORD }));
    expectLocked(locked);
    at(15 * MINUTE);
    expect((await attempt(email, { password: PASSWORD })).status).toBe(200);
  });

  it("are forgotten by one success", async () => {
    const email = await newAccount();
    const failures = async (count: number) =>
      Promise.all(Array.from({ length: count }, async () => (await attempt(email)).status));
    expect(await failures(4)).toEqual([401, 401, 401, 401]);
    expect((await attempt(email, { password: PASSWORD })).status).toBe(200);
    await service.settled();
    expect(await failures(5)).toEqual([401, 401, 401, 401, 401]);
    expectLocked([await attempt(email, { password: PASSWORD })]);
  });

  it("are counted exactly when they come at once", async () => {
    const email = await newAccount();
    const answers = await Promise.all(Array.from({ length: 20 }, () => attempt(email)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
    expectLocked(answers.filter(({ status }) => status !== 401));
  });

  it("are all that guesses side by side learn: one that was let in before tells nothing after them", async () => {
    const email = await newAccount();
    const before = service.counters.db.requests;
    service.faults.set({ service: "db", mode: "hang", count: 1 });
    const right = attempt(email, { password: PASSWORD });
    await vi.waitUntil(() => service.counters.db.requests === before + 1, { timeout: 10_000, interval: 1 });
    const wrong = await Promise.all(range(5).map(() => attempt(email)));
    service.faults.set({ service: "db", mode: "none" });
    expect(wrong.map(({ status }) => status)).toEqual(wrong.map(() => 401));
    expectLocked([await right]);
    expect(
      await service.sql("select from sessions s join users u on u.id = s.user_id where email = $1", [email]),
    ).toEqual([]);
  });

  it("are never right ones, however many come at once, beside as many wrong ones as are allowed", async () => {
    const email = await newAccount();
    const passwords = [...range(4).map(() => "wrong password"), ...range(6).map(() => PASSWORD)];
    const answers = await Promise.all(passwords.map((password) => attempt(email, { password })));
    expect(answers.map(({ status }) => status)).toEqual(passwords.map((given) => (given === PASSWORD ? 200 : 401)));
  });

  it("lock an account that does not exist in the same bytes", async () => {
    const known = await newAccount();
    const answers = await Promise.all(
      ["nobody@example.test", known].map(async (email) => {
        await Promise.all(Array.from({ length: 5 }, () => attempt(email)));
        return attempt(email);
      }),
    );
    expectLocked(answers);
  });
});

describe("failures from an address", () => {
  it("lock it at 50 within 15 minutes and at 150 within an hour, whatever succeeded in between", async () => {
    const address = newAddress();
    const email = await newAccount();
    const right = (from: string) => attempt(email, { password: PASSWORD, address: from });
    for (const minute of [0, 2, 4, 6]) {
      at(minute * MINUTE);
      await fail(10, address);
    }
    at(8 * MINUTE);
    await fail(9, address);
    expect((await right(address)).status).toBe(200);
    await service.settled();
    at(10 * MINUTE);
    await fail(1, address);
    const locked = [await right(address), await attempt("other@example.test", { address })];
    expect((await right(newAddress())).status, "from elsewhere the account is open").toBe(200);
    at(15 * MINUTE - 1);
    locked.push(await right(address));
    for (const minute of [16, 18, 20, 22, 25, 31, 33, 35, 37, 40]) {
      at(minute * MINUTE);
      await fail(10, address);
    }
    at(56 * MINUTE);
    locked.push(await right(address));
    at(60 * MINUTE - 1);
    locked.push(await right(address));
    expectLocked(locked);
    at(60 * MINUTE);
    expect((await right(address)).status).toBe(200);
  });

  it("are those of an IPv6 network of 64 bits together", async () => {
    const hosts = Array.from({ length: 5 }, (_, index) => `2001:db8:0:7::${index + 1}`);
    for (const [index, host] of hosts.entries()) {
      at(index * 2 * MINUTE);
      await fail(10, host);
    }
    at(10 * MINUTE);
    expectLocked([await attempt("anybody@example.test", { address: "2001:db8:0:7:ffff::1" })]);
    expect((await attempt("anybody@example.test", { address: "2001:db8:0:8::1" })).status).toBe(401);
  });
});

describe("without the store of the counters", () => {
  it.each(["down", "hang", "error"] as const)("sign-in is refused with 503: Redis is %s", async (mode) => {
    service.faults.set({ service: "redis", mode });
    const answer = await attempt(await newAccount(), { password: PASSWORD });
    service.faults.set({ service: "redis", mode: "none" });
    expect([answer.status, answer.body.code]).toEqual([503, "dependency_unavailable"]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });
});

it("a store that takes its time is not taken for one that is away", async () => {
  const email = await newAccount();
  for (const _ of range(4)) await attempt(email);
  service.faults.set({ service: "redis", mode: "hang", ms: 300 });
  const slow = await attempt(email, { password: PASSWORD });
  await service.settled();
  service.faults.set({ service: "redis", mode: "none" });
  const after = [await attempt(email), await attempt(email, { password: PASSWORD })];
  expect([slow, ...after].map(({ status }) => status)).toEqual([200, 401, 200]);
});
