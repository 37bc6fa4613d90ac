import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAnswerCache, type KeptAnswer } from "../../../shared/http/cache.ts";

const KIB = 1024;

const answer = (size: number, fields: Partial<KeptAnswer> = {}): KeptAnswer => ({
  body: new Uint8Array(size),
  headers: new Headers({ etag: '"x"' }),
  plain: new Headers({ etag: '"x"' }),
  etag: '"x"',
  tag: "board",
  generation: 0,
  ...fields,
});

describe("the answers that an isolate keeps", () => {
  it("never take more bytes than they may, whatever is asked for in whatever spelling", () => {
    const step = fc.record({
      key: fc.nat(40),
      url: fc.oneof(fc.nat(60), fc.nat(1_000_000)),
      size: fc.nat(40 * KIB),
      wait: fc.nat(3000),
      changed: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 0, max: 200 * KIB }), (steps, maxBytes) => {
        const cache = createAnswerCache(maxBytes);
        const made = new Map<string, { size: number; url: string }>();
        let now = 0;
        for (const { key, url, size, wait, changed } of steps) {
          now += wait;
          if (changed && wait > 2500) cache.invalidate("board");
          // A URL stands for one thing only.
          const [name, asked] = [`key ${key}`, `https://service.example/${key}?${url}`];
          if (cache.get(name, asked, now) === null) {
            cache.put(name, asked, now, answer(size, { generation: cache.generation("board") }));
            made.set(name, { size, url: asked });
          }
          const held = [...made].filter(([, { url: at }]) => cache.find(at, now) !== null);
          const bodies = held.reduce((sum, [, { size: bytes }]) => sum + bytes, 0);
          expect(bodies).toBeLessThanOrEqual(cache.bytes);
          expect(cache.bytes).toBeLessThanOrEqual(maxBytes);
        }
        // Nothing is counted for ever: once all has expired the next answer is the only one.
        cache.put("last", "/last", now + 10_000, answer(0, { generation: cache.generation("board") }));
        expect(cache.bytes).toBeLessThan(KIB);
      }),
    );
  });

  it("give way from the oldest on", () => {
    const cache = createAnswerCache(100 * KIB);
    for (let n = 0; n < 10; n += 1) cache.put(`${n}`, `/${n}`, n, answer(20 * KIB));
    expect(Array.from({ length: 10 }, (_, n) => cache.find(`/${n}`, 10) !== null)).toEqual(
      Array.from({ length: 10 }, (_, n) => n >= 6),
    );
  });

  it("do not stay where they have expired or been overtaken, asked for or not", () => {
    const cache = createAnswerCache();
    for (let n = 0; n < 100; n += 1) cache.put(`${n}`, `/${n}`, 0, answer(KIB));
    expect(cache.bytes).toBeGreaterThan(100 * KIB);
    expect([cache.find("/1", 8999) === null, cache.find("/1", 10_000) === null]).toEqual([false, true]);
    cache.put("new", "/new", 10_000, answer(KIB));
    expect(cache.bytes).toBeLessThan(3 * KIB);
    cache.invalidate("board");
    cache.put("next", "/next", 10_001, answer(KIB, { generation: 1 }));
    expect([cache.find("/new", 10_001), cache.bytes < 3 * KIB]).toEqual([null, true]);
  });

  it("are made anew by one request in their last second, while others still get them", () => {
    const cache = createAnswerCache();
    const first = answer(KIB);
    cache.put("key", "/a", 0, first);
    cache.get("key", "/a?", 1);
    const found = (now: number) => [cache.find("/a", now), cache.find("/a?", now), cache.get("key", "/b", now)];
    expect(found(8999)).toEqual([first, first, first]);
    // The look-up without validation leaves it to the other one.
    expect([cache.find("/a", 9000), cache.find("/a?", 9000), cache.get("key", "/a", 9000)]).toEqual([null, null, null]);
    expect(found(9999)).toEqual([first, first, first]);
    expect(found(10_000)).toEqual([null, null, null]);
    const next = answer(KIB);
    cache.put("key", "/a", 9999, next);
    expect([cache.find("/a", 18_998), cache.get("key", "/a?", 18_998)]).toEqual([next, next]);
  });

  it("are found by the URLs that asked for them, the last few of them", () => {
    const cache = createAnswerCache();
    cache.put("key", "/a?x=0", 0, answer(KIB));
    const before = cache.bytes;
    for (let n = 1; n <= 1000; n += 1) expect(cache.get("key", `/a?x=${n}`, 1)).not.toBeNull();
    expect([cache.find("/a?x=0", 1), cache.find("/a?x=1000", 1) !== null]).toEqual([null, true]);
    expect(cache.get("key", `/a?x=${"9".repeat(100_000)}`, 1)).not.toBeNull();
    expect(cache.bytes - before).toBeLessThan(2 * KIB);
    expect(cache.find("/b", 1)).toBeNull();
  });

  it("are no answers that are too large, or that a change has overtaken", () => {
    const cache = createAnswerCache();
    cache.put("large", "/large", 0, answer(256 * KIB + 1));
    cache.invalidate("board");
    cache.put("late", "/late", 0, answer(KIB));
    expect([cache.find("/large", 0), cache.find("/late", 0), cache.bytes]).toEqual([null, null, 0]);
  });
});
