import { neon, neonConfig } from "@neondatabase/serverless";
import { Redis } from "@upstash/redis/cloudflare";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { createCounters } from "../../stack/counters.ts";
import { createFaults } from "../../stack/faults.ts";
import type { Listening } from "../../stack/http.ts";
import { NEON, REDIS, WORKERS } from "../../stack/limits.ts";
import { startNeonFront } from "../../stack/neon/front.ts";
import { type RedisFront, startRedisFront } from "../../stack/redis/front.ts";
import { assertSettings } from "../../stack/settings.ts";

const parts = { faults: createFaults(), counters: createCounters() };
let database: Listening;
let store: RedisFront;

beforeAll(async () => {
  const url = `postgres://postgres:postgres@127.0.0.1:${inject("postgresPort")}/postgres`;
  database = await startNeonFront({ resolve: () => url, ...parts });
  // A service that ran in this worker before has left its own.
  neonConfig.fetchFunction = undefined;
  neonConfig.fetchEndpoint = () => `${database.url}/sql`;
  store = await startRedisFront(parts);
});

afterAll(async () => {
  await store.close();
  await database.close();
});

describe("Neon over HTTP", () => {
  const sql = neon("postgres://anyone:any-password@db.example.test/postgres");
  // What a request and an answer hold beside the text.
  const room = 2_000;

  test("takes a request up to its limit, and refuses one beyond it with 413", async () => {
    const length = async (bytes: number) => (await sql`select length(${"x".repeat(bytes)}::text) as length`)[0];
    expect(await length(NEON.requestBytes - room)).toEqual({ length: NEON.requestBytes - room });
    await expect(length(NEON.requestBytes)).rejects.toThrow("HTTP status 413");
  });

  test("gives an answer up to its limit, and refuses to give one beyond it with 507, however many rows it is of", async () => {
    const answer = (rows: number, bytes: number) =>
      sql`select repeat('x', ${bytes}::int) as x from generate_series(1, ${rows}::int)`;
    expect(await answer(1, NEON.responseBytes - room)).toHaveLength(1);
    await expect(answer(1, NEON.responseBytes)).rejects.toThrow("HTTP status 507");
    await expect(answer(10_000, 1_000)).rejects.toThrow("HTTP status 507");
    expect(await answer(1, 1), "the connection is good for more").toEqual([{ x: "x" }]);
  });
});

describe("Upstash Redis", () => {
  const client = () => new Redis({ url: store.url, token: store.token, retry: false, enableTelemetry: false });

  test("takes a request up to its limit, and refuses one beyond it, a pipeline too", async () => {
    expect(await client().set("large", "x".repeat(REDIS.requestBytes - 100))).toBe("OK");
    await expect(client().set("large", "x".repeat(REDIS.requestBytes))).rejects.toThrow("max request size exceeded");
    const pipeline = client().pipeline();
    for (const key of ["a", "b"]) pipeline.set(key, "x".repeat(REDIS.requestBytes / 2));
    await expect(pipeline.exec()).rejects.toThrow("max request size exceeded");
  });

  test("takes a key up to its limit, and refuses one beyond it, a script's too", async () => {
    const [longest, beyond] = ["k".repeat(REDIS.keyBytes), "k".repeat(REDIS.keyBytes + 1)];
    expect(await client().set(longest, 1)).toBe("OK");
    await expect(client().set(beyond, 1)).rejects.toThrow("max key size exceeded");
    await expect(client().eval("return 1", ["key", beyond], [])).rejects.toThrow("max key size exceeded");
    expect(await client().eval("return 1", [longest], [beyond])).toBe(1);
  });
});

describe("a Worker's settings", () => {
  test("are refused beyond their size, by name and never by value", () => {
    const large = { SIGNING_KEYS: "k".repeat(WORKERS.settingBytes) };
    expect(() => assertSettings(large)).not.toThrow();
    expect(() => assertSettings({ ...large, ADMIN_EMAILS: "é".repeat(WORKERS.settingBytes / 2 + 1) })).toThrow(
      /^ADMIN_EMAILS: 5002 bytes; a Worker's setting may have 5000\.$/,
    );
  });

  test("are refused beyond their number", () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_none, index) => [`S${index}`, ""]));
    expect(() => assertSettings(many(WORKERS.settings))).not.toThrow();
    expect(() => assertSettings(many(WORKERS.settings + 1))).toThrow("129 settings; a Worker may have 128.");
  });
});
