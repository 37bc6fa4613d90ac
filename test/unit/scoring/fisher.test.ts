import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fisherExact } from "../../../shared/scoring/fisher.ts";
import { regression } from "../../../shared/scoring/regression.ts";

type Table = [a: number, b: number, c: number, d: number];

describe("fisherExact", () => {
  it.each<[what: string, table: Table, expected: Partial<ReturnType<typeof fisherExact>>]>([
    ["Fisher's tea tasting (1935)", [3, 1, 1, 3], { greater: 17 / 70, twoSided: 34 / 70, less: 69 / 70 }],
    ["the convictions of R's fisher.test", [2, 15, 10, 3], { less: 0.0004652, twoSided: 0.0005367 }],
    ["one row", [3, 4, 0, 0], { less: 1, greater: 1, twoSided: 1 }],
    ["nothing", [0, 0, 0, 0], { less: 1, greater: 1, twoSided: 1 }],
    // Of the C(14, 7) = 3432 ways to fill the first row one is as uneven as this, and one the other way round.
    ["all against none", [7, 0, 0, 7], { greater: 1 / 3432, twoSided: 2 / 3432, less: 1 }],
  ])("gives %s its published p", (_what, table, expected) => {
    const found = fisherExact(...table);
    for (const [side, p] of Object.entries(expected)) {
      expect(found[side as keyof typeof found] / p).toBeCloseTo(1, 3);
    }
  });

  it("agrees with exact fractions, of small tables and of skewed ones whose p is tiny", () => {
    const small = fc.tuple(fc.nat(6), fc.nat(6), fc.nat(6), fc.nat(6));
    const skewed = fc.tuple(fc.nat(150), fc.nat(50), fc.nat(50), fc.nat(150));
    fc.assert(
      fc.property(fc.oneof(small, skewed), (table: Table) => {
        const [found, exact] = [fisherExact(...table), counted(...table)];
        expect(found.less / exact.less).toBeCloseTo(1, 10);
        expect(found.greater / exact.greater).toBeCloseTo(1, 10);
        expect(found.twoSided / exact.twoSided).toBeCloseTo(1, 10);
      }),
      { numRuns: 150 },
    );
  });

  it("turns about with rows or columns, and stays as it is with both", () => {
    fc.assert(
      fc.property(fc.tuple(fc.nat(2000), fc.nat(2000), fc.nat(2000), fc.nat(2000)), ([a, b, c, d]) => {
        const one = fisherExact(a, b, c, d);
        for (const other of [fisherExact(c, d, a, b), fisherExact(b, a, d, c)]) {
          expect(other.less).toBeCloseTo(one.greater, 10);
          expect(other.greater).toBeCloseTo(one.less, 10);
          expect(other.twoSided).toBeCloseTo(one.twoSided, 10);
        }
        const both = fisherExact(d, c, b, a);
        expect(both.less).toBeCloseTo(one.less, 10);
      }),
      { numRuns: 50 },
    );
  });

  it("stays exact for counts of a hundred thousand", () => {
    // Half, and half of the middle's own share besides, which is 1 / √(2π v) of the variance v = n / 4.
    const n = 100_000;
    const middle = Math.sqrt(2 / (Math.PI * n));
    const even = fisherExact(n, n, n, n);
    expect(even.less).toBeCloseTo(0.5 + middle / 2, 6);
    expect(even.greater).toBeCloseTo(even.less, 10);
    expect(even.twoSided).toBe(1);
    // Three standard deviations on, the normal tail is close for so many.
    const moved = Math.round(1.5 * Math.sqrt(n));
    expect(fisherExact(n + moved, n - moved, n - moved, n + moved).greater / 1.35e-3).toBeCloseTo(1, 1);
    expect(fisherExact(n, 0, 0, n)).toEqual({ less: 1, greater: 0, twoSided: 0 });
  });

  it.each([[[-1, 0, 0, 0]], [[0.5, 1, 1, 1]], [[1, 1, Number.NaN, 1]], [[1, 1, 1, Number.POSITIVE_INFINITY]]])(
    "refuses %j",
    (table) => expect(() => fisherExact(...(table as Table))).toThrow(RangeError),
  );
});

describe("regression", () => {
  it.each([
    ["a fall of exactly 10 points that is no chance", [900, 1000], [800, 1000], true],
    ["a fall of a little less, however sure", [9000, 10_000], [8001, 10_000], false],
    ["a fall of few runs that chance brings in 4% of cases", [4, 4], [1, 5], true],
    ["a fall of few runs that chance brings in 8% of cases", [5, 5], [2, 5], false],
    ["a rise", [800, 1000], [900, 1000], false],
    ["no change", [5, 10], [5, 10], false],
    ["nothing before", [0, 0], [0, 10], false],
    ["nothing after", [10, 10], [0, 0], false],
  ] as const)("judges %s", (_what, [bp, bt], [ap, at], regressed) => {
    const judged = regression({ passed: bp, total: bt }, { passed: ap, total: at });
    expect(judged.regressed).toBe(regressed);
    expect(judged.previous_pass_rate).toBe(bt === 0 ? null : bp / bt);
    expect(judged.pass_rate).toBe(at === 0 ? null : ap / at);
  });

  it("tells the one-sided p: all of 4 against none of 4 is one table of 70", () => {
    expect(regression({ passed: 4, total: 4 }, { passed: 0, total: 4 }).p_value).toBeCloseTo(1 / 70, 12);
    expect(regression({ passed: 0, total: 4 }, { passed: 4, total: 4 }).p_value).toBe(1);
  });
});

/** The p-values by counting all ways to fill the first row, in whole numbers. */
function counted(a: number, b: number, c: number, d: number) {
  const [row, column, total] = [a + b, a + c, a + b + c + d];
  const ways = (k: number) => choose(column, k) * choose(total - column, row - k);
  const cells = Array.from({ length: row + 1 }, (_none, k) => k);
  const share = (picked: number[]) => {
    const sum = picked.reduce((found, k) => found + ways(k), 0n);
    return Number((sum * 10n ** 200n) / choose(total, row)) / 1e200;
  };
  return {
    less: share(cells.filter((k) => k <= a)),
    greater: share(cells.filter((k) => k >= a)),
    twoSided: share(cells.filter((k) => ways(k) <= ways(a))),
  };
}

function choose(n: number, k: number): bigint {
  if (k < 0 || k > n) return 0n;
  let found = 1n;
  for (let i = 1; i <= k; i++) found = (found * BigInt(n - k + i)) / BigInt(i);
  return found;
}
