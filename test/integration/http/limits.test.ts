import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type Answer, caller, newUser, type User } from "../../stack/client.ts";
import { leastTime } from "../../stack/least-time.ts";
import { startService, type TestService } from "../../stack/service.ts";

const MINUTE = 60_000;
/** A full minute: the limiter's windows are those of the machine's clock. */
const START = Date.parse("2026-11-21T09:00:00.000Z");

let service: TestService;
let user: User;
let addresses = 0;

beforeAll(async () => {
  service = await startService();
  vi.useFakeTimers({ toFake: ["Date"], now: START });
  user = await newUser(service);
});

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: START }));

afterEach(() => {
  vi.useRealTimers();
  service.faults.set({ service: "redis", mode: "none" });
});

afterAll(() => service.stop());

function newAddress(): string {
  addresses += 1;
  return `172.21.0.${addresses}`;
}

interface Target {
  method: string;
  path: string;
  body?: unknown;
  /** Its status where the limit lets it pass. */
  status: number;
}

const READ: Target = { method: "GET", path: "/api/v1/auth/me", status: 401 };
const WRITE: Target = { method: "DELETE", path: `/api/v1/agents/${crypto.randomUUID()}`, status: 401 };
const SIGN_IN: Target = { method: "POST", path: "/api/v1/auth/login", body: {}, status: 422 };
const REFRESH: Target = { method: "POST", path: "/api/v1/auth/refresh", status: 401 };

const send = ({ method, path, body }: Target, address: string): Promise<Answer<{ code: string }>> =>
  caller(service, { "cf-connecting-ip": address }).call(method, path, body);

/** Sends `count` requests in parallel, few at a time, and returns the answers. */
async function burst(target: Target, address: string, count: number): Promise<Answer<{ code: string }>[]> {
  const answers: Answer<{ code: string }>[] = [];
  while (answers.length < count) {
    const size = Math.min(25, count - answers.length);
    answers.push(...(await Promise.all(Array.from({ length: size }, () => send(target, address)))));
  }
  return answers;
}

const standing = ({ headers }: Answer<{ code: string }>) => [headers.get("ratelimit-policy"), headers.get("ratelimit")];

describe("the limit of an address", () => {
  it.each<[string, number, Target]>([
    ["reads", 300, READ],
    ["writes", 60, WRITE],
    ["sign-in", 10, SIGN_IN],
    ["refreshes", 60, REFRESH],
  ])("lets exactly as many pass as it says, and tells where it stands: %s, %i a minute", async (_, limit, target) => {
    const address = newAddress();
    const first = await send(target, address);
    expect([first.status, ...standing(first)]).toEqual([
      target.status,
      `"minute";q=${limit};w=60`,
      `"minute";r=${limit - 1};t=60`,
    ]);
    const answers = await burst(target, address, limit + 9);
    expect(answers.filter(({ status }) => status === target.status)).toHaveLength(limit - 1);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
    vi.setSystemTime(START + 45_500);
    const refused = await send(target, address);
    expect([refused.status, refused.body.code, ...standing(refused)]).toEqual([
      429,
      "rate_limited",
      `"minute";q=${limit};w=60`,
      '"minute";r=0;t=15',
    ]);
    expect(refused.headers.get("retry-after")).toBe("15");
    vi.setSystemTime(START + 2 * MINUTE);
    expect((await send(target, address)).headers.get("ratelimit")).toBe(`"minute";r=${limit - 1};t=60`);
  });

  it("slides: half a minute on, half of the last minute still counts", async () => {
    const address = newAddress();
    await burst(WRITE, address, 60);
    vi.setSystemTime(START + 1.5 * MINUTE);
    const answers = await burst(WRITE, address, 40);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(30);
  });

  it("is one for each class, and each address has its own", async () => {
    const address = newAddress();
    await burst(SIGN_IN, address, 10);
    expect((await send(SIGN_IN, address)).status).toBe(429);
    for (const target of [READ, WRITE, REFRESH]) expect((await send(target, address)).status).toBe(target.status);
    expect((await send(SIGN_IN, newAddress())).status).toBe(422);
  });

  it("is shared by the Workers of one zone, and not by all, which have one address", async () => {
    const worker = (zone: string) => ({ "cf-connecting-ip": "2a06:98c0:3600::103", "cf-worker": zone });
    const signIn = (headers: Record<string, string>) =>
      caller(service, headers).call(SIGN_IN.method, SIGN_IN.path, SIGN_IN.body);
    await Promise.all(Array.from({ length: 10 }, () => signIn(worker("busy.example"))));
    expect((await signIn(worker("busy.example"))).status).toBe(429);
    expect((await signIn(worker("other.workers.dev"))).status).toBe(422);
    const address = newAddress();
    await burst(SIGN_IN, address, 10);
    expect((await signIn({ "cf-connecting-ip": address, "cf-worker": "claimed.example" })).status).toBe(429);
  });

  it.each([
    ["an IPv6 network of 64 bits", "2001:db8:1:2::1", "2001:DB8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:3::1"],
    ["an IPv4 address written as IPv6", "::ffff:203.0.113.9", "203.0.113.9", "203.0.113.10"],
  ])("is shared within %s", async (_, one, same, other) => {
    await burst(SIGN_IN, one, 10);
    expect((await send(SIGN_IN, same)).status).toBe(429);
    expect((await send(SIGN_IN, other)).status).toBe(422);
  });

  it.each([
    ["at a slow pace", 80, 700, 1],
    ["in bursts", 80, 20, 16],
  ])(
    "loses little to a caller %s: requests that are counted in advance are those to come",
    async (_, sent, gap, size) => {
      const address = newAddress();
      let left = "";
      for (let n = 0; n < sent; n += 1) {
        vi.setSystemTime(START + n * gap + Math.floor(n / size) * (size > 1 ? 6000 : 0));
        const answer = await send(READ, address);
        expect(answer.status).toBe(READ.status);
        left = /r=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1] ?? "";
      }
      expect(Number(left)).toBeGreaterThanOrEqual(size === 1 ? 300 - sent : 300 - 1.5 * sent);
    },
  );

  it("counts those who are signed in as well", async () => {
    const answers = [await user.call("GET", "/api/v1/auth/me"), await user.call("GET", "/api/v1/auth/me")];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const left = answers.map(({ headers }) => Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]));
    expect((left[0] ?? 0) - (left[1] ?? 0)).toBe(1);
  });

  it("does not hold for the check of liveness", async () => {
    const address = newAddress();
    const answers = await burst({ method: "GET", path: "/healthz", status: 200 }, address, 310);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(standing(answers[0] as Answer<{ code: string }>)).toEqual([null, null]);
  });
});

describe("without the limiter's store", () => {
  it.each(["down", "error", "hang"] as const)(
    "requests pass, unlimited, within a second more: Redis is %s",
    async (mode) => {
      service.faults.set({ service: "redis", mode });
      const address = newAddress();
      const called = async () => {
        const answers = await Promise.all([
          ...Array.from({ length: 12 }, () => send(SIGN_IN, address)),
          user.call("GET", "/api/v1/auth/me"),
          user.call("GET", "/api/v1/agents"),
          user.call("DELETE", WRITE.path),
        ]);
        expect(answers.slice(0, 12).map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 422));
        expect(answers.slice(12).map(({ status }) => status)).toEqual([200, 200, 404]);
        for (const { headers } of answers.slice(0, 12)) expect(headers.get("ratelimit")).toBeNull();
      };
      expect(await leastTime(2000, called)).toBeLessThan(2000);
    },
  );
});
