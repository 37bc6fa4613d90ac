import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { addressHasher } from "../../../shared/http/address.ts";
import { parseEnv } from "../../../shared/platform/env.ts";
import { countCaller, LIMITS, type Standing } from "../../../shared/http/limits.ts";
import { createService } from "../../../functions/service.ts";
import { type Answer, caller } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";

const CACHED = "/api/v1/tasks";
/** A full minute: the limiter's windows are those of the machine's clock, which stands still. */
const START = Date.parse("2026-11-21T09:00:00.000Z");

let service: TestService;
let addresses = 0;
let address = "";

beforeAll(async () => {
  service = await startService();
  vi.useFakeTimers({ toFake: ["Date"], now: START });
});
afterAll(async () => {
  vi.useRealTimers();
  await service.stop();
});

beforeEach(async () => {
  // Somebody else has what is read kept, and the limiter's script loaded.
  await caller(service, { "cf-connecting-ip": "172.26.1.1" }).call("GET", CACHED);
  await service.settled();
  addresses += 1;
  address = `172.26.0.${addresses}`;
});
afterEach(() => service.faults.set({ service: "redis", mode: "none" }));

const read = (from = address, headers: Record<string, string> = {}): Promise<Answer<{ code: string }>> =>
  caller(service, { "cf-connecting-ip": from, ...headers }).call("GET", CACHED);

/** Counts requests of the address elsewhere: in another isolate of the same service. Returns what remains there. */
async function countElsewhere(requests: number, from = address): Promise<number | undefined> {
  const elsewhere = createService(service.settings, new Map());
  const hash = addressHasher(parseEnv(service.settings), () => new Date())(from).addressHash;
  const ctx = elsewhere.context({ requestId: "elsewhere", addressHash: hash, defer: () => undefined });
  let standing: Standing | null = null;
  for (let n = 0; n < requests; n += 1) standing = await countCaller(ctx, "read", hash);
  return standing?.windows[0]?.remaining;
}

it.each([
  ["a plain one", {}],
  ["that of a page of another site", { origin: "https://pages.example" }],
])("a cached answer does not wait for the limiter's store: %s", async (_what, headers) => {
  service.faults.set({ service: "redis", mode: "hang" });
  const { status, headers: given } = await read(address, headers);
  expect([status, given.get("ratelimit-policy")]).toEqual([200, `"minute";q=${LIMITS.read};w=60`]);
  expect(given.get("ratelimit")).toBe(`"minute";r=${LIMITS.read - 1};t=60`);
});

it.each([
  ["a plain one", {}],
  ["that of a page of another site", { origin: "https://pages.example" }],
])("an address that is beyond its limit elsewhere is refused at the next request: %s", async (_what, headers) => {
  await countElsewhere(LIMITS.read);
  expect((await read(address, headers)).status).toBe(200);
  await service.settled();
  const { status, body, headers: refused } = await read(address, headers);
  expect([status, body.code]).toEqual([429, "rate_limited"]);
  expect(["ratelimit-policy", "ratelimit", "retry-after"].map((name) => refused.get(name))).toEqual([
    `"minute";q=${LIMITS.read};w=60`,
    '"minute";r=0;t=60',
    "60",
  ]);
});

it("the limit is exact for an address whose requests are counted after their answers", async () => {
  const answers: Answer<{ code: string }>[] = [];
  // Few at once: the limiter fails open where its store is slow, and here the store shares the processor.
  while (answers.length < LIMITS.read + 30)
    answers.push(...(await Promise.all(Array.from({ length: 6 }, () => read()))));
  const passed = answers.filter(({ status }) => status === 200);
  expect(passed.length).toBe(LIMITS.read);
});

it("the requests of many addresses are counted in few commands", async () => {
  const callers = Array.from({ length: 40 }, (_, n) => `172.26.${addresses + 1}.${n}`);
  service.counters.reset();
  await Promise.all(callers.map((one) => read(one)));
  await service.settled();
  const { requests, commands } = service.counters.snapshot().redis;
  // On a loaded machine the callers come in more groups.
  expect([requests <= callers.length / 4, commands]).toEqual([true, requests]);
  for (const one of callers.slice(0, 3)) expect(await countElsewhere(1, one)).toBe(LIMITS.read - 2);
});
