import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { addressHasher } from "../../../shared/http/address.ts";
import { countOwed, LIMITS } from "../../../shared/http/limits.ts";
import { parseEnv } from "../../../shared/platform/env.ts";
import type { Context } from "../../../shared/platform/context.ts";
import { integrate } from "../../../shared/transparency/integrate.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { contextOf } from "../runs/run-events-support.ts";
import { addEntries } from "./support.ts";

let service: TestService;
let ctx: Context;
let addresses = 0;
let address = "";

beforeAll(async () => {
  service = await startService();
  // The limiter's windows are those of the machine's clock, which stands still.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-11-21T09:00:00.000Z") });
  ctx = contextOf(service, () => new Date());
  await addEntries(service, 600);
  await integrate(ctx);
});
afterAll(async () => {
  vi.useRealTimers();
  await service.stop();
});

beforeEach(() => {
  addresses += 1;
  address = `172.27.0.${addresses}`;
});

const read = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.url}/log/${path}`, { headers: { "cf-connecting-ip": address, ...headers } });

const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());

/** Whole ones and parts, of hashes and of entries. */
const TILES = ["tile/0/000", "tile/0/002.p/7", "tile/1/000.p/2", "tile/entries/001", "tile/entries/002.p/9"];

describe("whoever reads the log without an account", () => {
  it.each(["checkpoint", "key", ...TILES])(
    "is refused beyond the limit of open reads, and nobody else is: %s",
    async (path) => {
      const policy = `"minute";q=${LIMITS.read};w=60`;
      const { addressHash } = addressHasher(parseEnv(service.settings), () => new Date())(address);
      const spent = { left: 0, remaining: 0, filling: false, resetAt: 0, expiresAt: 0, lastAt: 0, pace: Infinity };
      await countOwed(ctx, "read", [[addressHash, { ...spent, owed: LIMITS.read }]]);
      // What is in memory may be given once before it is counted.
      await read(path);
      await service.settled();
      const { status, headers } = await read(path);
      expect([status, headers.get("ratelimit-policy"), headers.get("retry-after")]).toEqual([429, policy, "60"]);
      const other = await read(path, { "cf-connecting-ip": `172.27.1.${addresses}` });
      expect([other.status, other.headers.get("ratelimit-policy")]).toEqual([200, policy]);
    },
  );

  it.each(["key", ...TILES])(
    "costs the database nothing where somebody else read the same just now: %s",
    async (path) => {
      const first = await read(path);
      const bytes = await bytesOf(first);
      await service.settled();
      service.counters.reset();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_none, n) => read(path, { "cf-connecting-ip": `172.28.${addresses}.${n}` })),
      );
      for (const answer of answers) {
        expect(answer.status).toBe(200);
        for (const name of ["cache-control", "content-type", "access-control-allow-origin", "etag"])
          expect(answer.headers.get(name), name).toBe(first.headers.get(name));
        expect((await bytesOf(answer)).equals(bytes)).toBe(true);
      }
      const known = await read(path, { "if-none-match": first.headers.get("etag") ?? "" });
      expect([known.status, (await bytesOf(known)).length]).toEqual([304, 0]);
      await service.settled();
      expect(service.counters.snapshot().db.requests).toBe(0);
      // Nor where that one had it already, when nobody else did.
      vi.setSystemTime(Date.now() + 60_000);
      expect((await read(path, { "if-none-match": first.headers.get("etag") ?? "" })).status).toBe(304);
      await service.settled();
      service.counters.reset();
      expect((await bytesOf(await read(path))).equals(bytes)).toBe(true);
      expect(service.counters.snapshot().db.requests).toBe(0);
    },
  );

  it("gets no tile from memory that it spells in another way, and no part that is not there yet, once it is there", async () => {
    for (const path of ["tile/0/00", "tile/0/000.p/256", "tile/0/999"])
      expect((await read(path)).status, path).not.toBe(200);
    expect((await read("tile/0/002.p/100")).status).toBe(404);
    await addEntries(service, 40);
    await integrate(ctx);
    expect((await read("tile/0/002.p/100")).status).toBe(200);
    const sizes = (await (await read("checkpoint")).text()).split("\n")[1];
    await addEntries(service, 1);
    await integrate(ctx);
    expect((await (await read("checkpoint")).text()).split("\n")[1]).toBe(String(Number(sizes) + 1));
  });
});
