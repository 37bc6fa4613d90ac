import { Ratelimit } from "@upstash/ratelimit";
import { Redis } from "@upstash/redis/cloudflare";
import * as fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createCounters } from "../../stack/counters.ts";
import { createFaults, type FaultMode } from "../../stack/faults.ts";
import { type RedisFront, startRedisFront } from "../../stack/redis/front.ts";

// Long enough for a loaded machine; what is waited for comes within milliseconds.
const PATIENCE = { timeout: 20_000 };
const counters = createCounters();
const faults = createFaults();
let front: RedisFront;
let redis: Redis;

const clientOf = ({ url, token }: RedisFront, options = {}) =>
  new Redis({ url, token, retry: false, enableTelemetry: false, ...options });

beforeAll(async () => {
  front = await startRedisFront({ faults, counters });
  redis = clientOf(front);
});

afterAll(() => front.close());

beforeEach(async () => {
  await redis.flushall();
  counters.reset();
});

afterEach(() => {
  faults.set({ service: "redis", mode: "none" });
  vi.useRealTimers();
});

describe("commands, by Upstash's client", () => {
  test("strings, counters and what is not there", async () => {
    expect(await redis.set("key", "value")).toBe("OK");
    expect(await redis.get("key")).toBe("value");
    expect(await redis.set("key", "other", { nx: true })).toBeNull();
    expect(await redis.incrby("count", 5)).toBe(5);
    expect(await redis.get("missing")).toBeNull();
    expect(await redis.del("key", "missing")).toBe(1);
  });

  test("hashes, sets, lists and sorted sets", async () => {
    expect(await redis.hset("hash", { a: 1, b: "two", c: { d: [3] } })).toBe(3);
    expect(await redis.hgetall("hash")).toEqual({ a: 1, b: "two", c: { d: [3] } });
    expect(await redis.hmget("hash", "a", "z")).toEqual({ a: 1, z: null });
    await redis.sadd("set", "x", "y");
    expect(new Set(await redis.smembers("set"))).toEqual(new Set(["x", "y"]));
    await redis.rpush("list", "1st", "2nd");
    expect(await redis.lrange("list", 0, -1)).toEqual(["1st", "2nd"]);
    await redis.zadd("sorted", { score: 2, member: "b" }, { score: 1, member: "a" });
    expect(await redis.zrange("sorted", 0, -1, { withScores: true })).toEqual(["a", 1, "b", 2]);
  });

  test.each(["OK", "", "é☃𝄞", "line\r\nbreak\0", "$5\r\nhello\r\n", "T0s="])(
    "the value %j comes back as it went",
    async (value) => {
      await redis.set("key", value);
      expect(await redis.get("key")).toBe(value);
      expect(await redis.mget("key", "key")).toEqual([value, value]);
    },
  );

  test("any text comes back as it went, with base64 and without", async () => {
    const plain = clientOf(front, { responseEncoding: false, automaticDeserialization: false });
    const raw = clientOf(front, { automaticDeserialization: false });
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
        await raw.set("key", text);
        expect([await raw.get("key"), await plain.get("key")]).toEqual([text, text]);
      }),
      { numRuns: 50 },
    );
  });

  test("a wrong type, a wrong number of arguments and an unknown command are errors that keep their words", async () => {
    await redis.set("key", "text");
    await expect(redis.lpush("key", "x")).rejects.toThrow(/WRONGTYPE Operation against a key/);
    await expect(redis.exec(["GET"])).rejects.toThrow(/ERR wrong number of arguments for 'get' command/);
    await expect(redis.exec(["NOPE"])).rejects.toThrow(/ERR unknown command/);
  });

  test.each([["BLPOP", "key", 0], ["SUBSCRIBE", "channel"], ["MULTI"], ["select", 1]] as [
    string,
    ...(string | number)[],
  ][])("%s, which would hold up or change the shared connection, is refused", async (...command) => {
    await expect(redis.exec(command)).rejects.toThrow(/ERR Command is not available/);
    expect(await redis.ping()).toBe("PONG");
  });
});

describe("several commands in one request", () => {
  test("calls made together go as one pipeline of reads and one of writes", async () => {
    const results = await Promise.all([
      redis.set("a", 1),
      redis.incr("a"),
      redis.incr("b"),
      redis.get("c"),
      redis.exists("c"),
    ]);
    expect(results).toEqual(["OK", 2, 1, null, 0]);
    expect(counters.redis).toEqual({ requests: 2, commands: 5 });
  });

  test("a pipeline goes on after an error, and tells it in its place", async () => {
    const results = await redis.pipeline().set("a", "x").incr("a").get("a").exec({ keepErrors: true });
    expect(results).toEqual([
      { result: "OK", error: undefined },
      { result: undefined, error: expect.stringContaining("ERR value is not an integer") },
      { result: "x", error: undefined },
    ]);
  });

  test("a transaction has nothing between its commands", async () => {
    const rounds = Array.from({ length: 20 }, () => redis.multi().incr("n").incr("n").incr("n").exec<number[]>());
    for (const [first = 0, ...rest] of await Promise.all(rounds)) expect(rest).toEqual([first + 1, first + 2]);
    expect(await redis.get("n")).toBe(60);
  });
});

describe("scripts", () => {
  const shebang = "#!lua flags=allow-key-locking\nreturn {KEYS[1], ARGV[1], 'OK', {1, false}}";

  test("are run by text and by hash, with Upstash's #!lua line and without", async () => {
    const expected = ["k", "v", "OK", [1, null]];
    for (const script of [shebang, shebang.slice(shebang.indexOf("\n"))]) {
      expect(await redis.eval(script, ["k"], ["v"])).toEqual(expected);
      const hash = await redis.scriptLoad(script);
      expect(await redis.scriptExists(hash, "0".repeat(40))).toEqual([1, 0]);
      expect(await redis.evalsha(hash, ["k"], ["v"])).toEqual(expected);
    }
  });

  test("are NOSCRIPT by a hash not seen, so that a client sends the text", async () => {
    await redis.scriptFlush();
    const script = redis.createScript(shebang.replace("'OK'", "'again'"));
    const hash = script.sha1 || (await redis.scriptLoad(script.script));
    await redis.scriptFlush();
    await expect(redis.evalsha(hash, ["k"], ["v"])).rejects.toThrow(/NOSCRIPT/);
    expect(await script.exec(["k"], ["v"])).toEqual(["k", "v", "again", [1, null]]);
    expect(await redis.evalsha(hash, ["k"], ["v"])).toEqual(["k", "v", "again", [1, null]]);
  });

  test("that fail name the line of the text as it was sent", async () => {
    await expect(redis.eval("#!lua flags=allow-key-locking\n\nerror('here')", [], [])).rejects.toThrow(
      /user_script:3: here/,
    );
  });
});

describe("time", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime("2026-01-01T00:00:00.000Z");
  });

  const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

  test("a key is there until its expiry, and not from then on", async () => {
    await redis.set("key", 1, { ex: 10 });
    pass(9_999);
    expect(await redis.pttl("key")).toBe(1);
    pass(1);
    expect(await redis.exists("key")).toBe(0);
    expect(await redis.ttl("key")).toBe(-2);
  });

  test("GETEX moves an expiry, PERSIST takes it away", async () => {
    await redis.set("key", 1, { px: 100 });
    expect(await redis.getex("key", { px: 500 })).toBe(1);
    pass(499);
    expect(await redis.persist("key")).toBe(1);
    pass(1_000);
    expect(await redis.get("key")).toBe(1);
  });

  /** The outcomes of calls, each after so many milliseconds since the call before. */
  async function outcomes(limiter: ReturnType<typeof Ratelimit.fixedWindow>, waits: number[]): Promise<string> {
    const ratelimit = new Ratelimit({ redis, limiter, ephemeralCache: false, timeout: 0 });
    let told = "";
    for (const wait of waits) {
      pass(wait);
      told += (await ratelimit.limit("caller")).success ? "+" : "-";
    }
    return told;
  }

  test.each([
    [
      "a fixed window lets its tokens pass, and new ones from its end on",
      Ratelimit.fixedWindow(2, "10 s"),
      [0, 0, 9_999, 1, 0, 0],
      "++-++-",
    ],
    [
      "a sliding window counts the last window by the part of it still in view",
      Ratelimit.slidingWindow(3, "10 s"),
      [0, 0, 0, 9_999, 1, 1, 0, 3_332, 1, 0],
      "+++--+--+-",
    ],
    [
      "a token bucket gives back its rate each interval, up to its size",
      Ratelimit.tokenBucket(2, "10 s", 3),
      [0, 0, 0, 0, 9_999, 1, 0, 0, 40_000, 0, 0, 0],
      "+++--++-+++-",
    ],
  ])("%s", async (_, limiter, waits, expected) => {
    expect(await outcomes(limiter, waits)).toBe(expected);
  });
});

describe("faults and refusals", () => {
  const limit = () =>
    new Ratelimit({ redis, limiter: Ratelimit.fixedWindow(5, "10 s"), ephemeralCache: false, timeout: 0 }).limit(
      "caller",
    );

  test.each<[FaultMode, RegExp, done: boolean]>([
    ["down", /fetch failed/, false],
    ["error", /redis fault/, false],
    ["lost", /fetch failed/, true],
  ])("%s makes a command and limit() throw %s", async (mode, message, done) => {
    await limit();
    faults.set({ service: "redis", mode });
    await expect(limit()).rejects.toThrow(message);
    await expect(redis.set("key", "done")).rejects.toThrow(message);
    faults.set({ service: "redis", mode: "none" });
    expect(await redis.get("key")).toBe(done ? "done" : null);
  });

  test("hang does nothing for a caller that gives up, and answers one that waits when it is lifted", async () => {
    faults.set({ service: "redis", mode: "hang", count: 2 });
    const leaving = new AbortController();
    const left = clientOf(front, { signal: () => leaving.signal }).incr("key");
    const patient = redis.incr("key");
    await expect.poll(() => counters.redis.requests, PATIENCE).toBe(2);
    leaving.abort();
    await expect(left).rejects.toThrow(/aborted/);
    expect(await redis.get("key")).toBeNull();
    faults.set({ service: "redis", mode: "none" });
    expect(await patient).toBe(1);
    expect(counters.redis).toEqual({ requests: 3, commands: 2 });
  });

  test("limit() throws when nothing listens", async () => {
    const gone = await startRedisFront({ faults, counters });
    const ratelimit = new Ratelimit({ redis: clientOf(gone), limiter: Ratelimit.fixedWindow(5, "10 s"), timeout: 0 });
    await ratelimit.limit("caller");
    await gone.close();
    await expect(ratelimit.limit("caller")).rejects.toThrow(/fetch failed/);
  });
});

describe("the REST protocol", () => {
  const headers = () => ({ authorization: `Bearer ${front.token}` });

  test("takes a command as a path, with a body as its last argument and options from the query", async () => {
    const get = async (path: string) => (await fetch(`${front.url}${path}`, { headers: headers() })).json();
    expect(await get("/set/a%2Fkey/a%20value/EX/100")).toEqual({ result: "OK" });
    expect(await get("/get/a%2Fkey")).toEqual({ result: "a value" });
    await fetch(`${front.url}/set/body?EX=5`, { method: "POST", headers: headers(), body: '{"a":1}' });
    expect(await get("/get/body")).toEqual({ result: '{"a":1}' });
    expect(await get("/ttl/body")).toEqual({ result: 5 });
  });

  test("gives every string in base64 where asked, but for the status OK", async () => {
    const commands = [["SET", "key", "OK"], ["GET", "key"], ["PING"], ["EVAL", "return {'OK', 1, false}", 0]];
    const request = { method: "POST", headers: { ...headers(), "Upstash-Encoding": "base64" } };
    const response = await fetch(`${front.url}/pipeline`, { ...request, body: JSON.stringify(commands) });
    const results = ["OK", "T0s=", "UE9ORw==", ["T0s=", 1, null]].map((result) => ({ result }));
    expect(await response.json()).toEqual(results);
  });

  test.each([
    ["no token", 401, {}, '["PING"]', /^WRONGPASS/],
    ["a wrong token", 401, { authorization: "Bearer wrong" }, '["PING"]', /^WRONGPASS/],
    ["a body that is no command", 400, undefined, "{}", /^ERR/],
    ["an error of Redis", 400, undefined, '["GET"]', /^ERR wrong number/],
  ])("answers %s with %i and {error}", async (_, status, given, body, error) => {
    const response = await fetch(front.url, { method: "POST", headers: given ?? headers(), body });
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error: expect.stringMatching(error) });
  });

  test("refuses a transaction with a command that cannot be queued, and does nothing of it", async () => {
    const commands = [["SET", "key", "1"], ["GET"]];
    const request = { method: "POST", headers: headers(), body: JSON.stringify(commands) };
    const response = await fetch(`${front.url}/multi-exec`, request);
    expect([response.status, await response.json()]).toEqual([400, { error: expect.stringMatching(/^EXECABORT/) }]);
    expect(await redis.exists("key")).toBe(0);
  });
});
