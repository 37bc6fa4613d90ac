import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { meanPassHatK, passHatK } from "../../../shared/scoring/pass-k.ts";

describe("passHatK", () => {
  it.each([
    [10, 7, 1, 0.7],
    [10, 7, 2, 21 / 45],
    [10, 7, 3, 35 / 120],
    [10, 7, 5, 21 / 252],
    [5, 5, 5, 1],
  ])("of %d runs with %d passes, k = %d: %d", (n, c, k, expected) => {
    expect(passHatK(n, c, k)).toBeCloseTo(expected, 12);
  });

  it.each([
    [5, 4, 5],
    [3, 0, 1],
    [5, 1, 3],
  ])("of %d runs with %d passes, %d can never all pass", (n, c, k) => {
    expect(passHatK(n, c, k)).toBe(0);
  });

  it("is null for more draws than runs", () => {
    expect(passHatK(4, 4, 5)).toBeNull();
    expect(passHatK(0, 0, 1)).toBeNull();
  });

  it("is the share of k-subsets of the runs that hold passes only, by counting them", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), fc.nat(10), fc.integer({ min: 1, max: 5 }), (n, passes, k) => {
        const c = Math.min(n, passes);
        const subsets = [...Array(2 ** n).keys()].filter((mask) => ones(mask) === k);
        const passing = subsets.filter((mask) => mask < 2 ** c);
        const expected = subsets.length === 0 ? null : passing.length / subsets.length;
        if (expected === null) expect(passHatK(n, c, k)).toBeNull();
        else expect(passHatK(n, c, k)).toBeCloseTo(expected, 12);
      }),
    );
  });
});

describe("meanPassHatK", () => {
  it("averages over the tasks with enough runs only", () => {
    const tasks = [
      { n: 10, c: 10 },
      { n: 3, c: 0 },
      { n: 2, c: 2 },
    ];
    expect(meanPassHatK(tasks, 3)).toBe(0.5);
    expect(meanPassHatK(tasks, 5)).toBe(1);
  });

  it("is null when no task has enough runs", () => {
    expect(meanPassHatK([{ n: 2, c: 2 }], 3)).toBeNull();
    expect(meanPassHatK([], 1)).toBeNull();
  });
});

function ones(mask: number): number {
  return mask.toString(2).replaceAll("0", "").length;
}
