import { createHash, createHmac } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { drawUntil, randomFrom } from "../../../shared/templates/random.ts";
import { templateSeed } from "../../../shared/suites/secret/seed.ts";

const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe("randomFrom", () => {
  test("reads the words of SHA-256(seed, counter) in order", () => {
    const seed = Buffer.alloc(32, 1);
    const words = [0, 1].flatMap((block) => {
      const digest = createHash("sha256")
        .update(Buffer.concat([seed, Buffer.from([0, 0, 0, block])]))
        .digest();
      return Array.from({ length: 8 }, (_, i) => digest.readUInt32BE(4 * i));
    });
    const random = randomFrom(seed);
    expect(words.map(() => random.int(0, 2 ** 32 - 1))).toEqual(words);
  });

  test("refuses a seed that has not 32 bytes", () => {
    expect(() => randomFrom(new Uint8Array(31))).toThrow(RangeError);
  });

  test("gives the same draws for the same seed", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const draws = () => {
          const random = randomFrom(seed);
          return [random.int(1, 6), random.shuffle([1, 2, 3, 4]), random.people(3), random.codes("A", 2)];
        };
        expect(draws()).toEqual(draws());
      }),
    );
  });

  test("keeps whole numbers within both bounds and reaches both", () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: -50, max: 50 }), fc.nat({ max: 5 }), (seed, min, span) => {
        const random = randomFrom(seed);
        const drawn = new Set(Array.from({ length: 200 }, () => random.int(min, min + span)));
        expect([...drawn].toSorted((a, b) => a - b)).toEqual(Array.from({ length: span + 1 }, (_, i) => min + i));
      }),
    );
  });

  test("is even: the chi-square statistic of 60,000 throws of a die is below the 0.1% bound of 20.5", () => {
    const random = randomFrom(Buffer.alloc(32, 5));
    const counts = [0, 0, 0, 0, 0, 0];
    for (let i = 0; i < 60_000; i += 1) counts[random.int(0, 5)]! += 1;
    expect(counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0)).toBeLessThan(20.5);
  });

  test("does not favour small numbers where the span does not divide 2^32", () => {
    const random = randomFrom(Buffer.alloc(32, 6));
    const span = 3 * 2 ** 30;
    const low = Array.from({ length: 3000 }, () => random.int(0, span - 1)).filter((n) => n < 2 ** 30).length;
    expect(low).toBeGreaterThan(900);
    expect(low).toBeLessThan(1100);
  });

  test("shuffles to a permutation and samples without repetition, and leaves its argument alone", () => {
    fc.assert(
      fc.property(seeds, fc.uniqueArray(fc.integer(), { maxLength: 20 }), fc.nat(), (seed, items, n) => {
        const [random, before, count] = [randomFrom(seed), [...items], n % (items.length + 1)];
        const ascending = (values: number[]) => values.toSorted((a, b) => a - b);
        expect(ascending(random.shuffle(items))).toEqual(ascending(items));
        const sample: number[] = random.sample(items, count);
        expect(new Set(sample).size).toBe(count);
        expect(sample.every((item) => items.includes(item))).toBe(true);
        expect(items).toEqual(before);
      }),
    );
  });

  test("gives different names, companies and codes", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const random = randomFrom(seed);
        for (const drawn of [random.people(24), random.companies(20), random.codes("X", 20)]) {
          expect(new Set(drawn).size).toBe(drawn.length);
        }
      }),
    );
  });

  test("refuses to draw more items than there are", () => {
    const random = randomFrom(Buffer.alloc(32));
    expect(() => random.pick([])).toThrow(RangeError);
    expect(() => random.sample([1, 2], 3)).toThrow(RangeError);
  });
});

describe("drawUntil", () => {
  test("gives the first value and ends with an error where none comes", () => {
    let tries = 0;
    expect(drawUntil(() => (++tries === 5 ? "drawn" : undefined))).toBe("drawn");
    expect(tries).toBe(5);
    expect(() => drawUntil(() => undefined)).toThrow("no draw");
  });
});

describe("templateSeed", () => {
  test("is HMAC-SHA-256 under the key over label, suite, version and template", () => {
    const key = Buffer.alloc(32, 9);
    const expected = createHmac("sha256", key).update('["secret-template","suite",2,"template"]').digest("hex");
    expect(Buffer.from(templateSeed(key, "suite", 2, "template")).toString("hex")).toBe(expected);
  });

  test("differs in every part, also where the parts run together the same", () => {
    const key = Buffer.alloc(32, 9);
    const seedsOf = [
      templateSeed(key, "a", 1, "b"),
      templateSeed(Buffer.alloc(32, 10), "a", 1, "b"),
      templateSeed(key, "a1", 1, "b"),
      templateSeed(key, "a", 11, "b"),
      templateSeed(key, "a", 1, "1b"),
      templateSeed(key, 'a",1,"b', 1, "b"),
    ];
    expect(new Set(seedsOf.map((seed) => Buffer.from(seed).toString("hex"))).size).toBe(seedsOf.length);
  });

  test("refuses a key that is too short to keep the seeds secret", () => {
    expect(() => templateSeed(new Uint8Array(31), "a", 1, "b")).toThrow(RangeError);
  });
});
