import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundsOf } from "../../../shared/scoring/interval.ts";
import { mcnemarExact, paired, type TaskPair } from "../../../shared/scoring/mcnemar.ts";

describe("mcnemarExact", () => {
  it.each([
    // Fagerland, Lydersen, Laake (2013), table 1: airway hyper-responsiveness before and after transplantation.
    [1, 7, 0.0703],
    // Fay, Exact McNemar's test and matching confidence intervals (the R package exact2x2): Agresti's approval ratings.
    [150, 86, 3.716e-5],
    // Closed forms: without a discordant pair nothing speaks for a difference; one alone can't either; 2 / 2^n one-sidedly.
    [0, 0, 1],
    [1, 0, 1],
    [10, 0, 2 / 1024],
    [9, 9, 1],
  ])("of %d and %d discordant pairs: %d", (b, c, p) => {
    expect(mcnemarExact(b, c) / p).toBeCloseTo(1, 3);
    expect(mcnemarExact(c, b)).toBe(mcnemarExact(b, c));
  });

  it("is the share of all ways to toss the discordant pairs that come out at least as uneven, by counting them", () => {
    for (let b = 0; b <= 7; b++) {
      for (let c = 0; c <= 7; c++) {
        const tosses = [...Array(2 ** (b + c)).keys()].map(ones);
        const uneven = tosses.filter((heads) => Math.abs(heads - (b + c - heads)) >= Math.abs(b - c));
        expect(mcnemarExact(b, c)).toBeCloseTo(uneven.length / tosses.length, 12);
      }
    }
  });

  it("stays a probability, and exact, where 2^-n underflows", () => {
    expect(mcnemarExact(5000, 5000)).toBe(1);
    // Twice the normal tail beyond z = (|b - c| - 1) / √n is close for so many.
    expect(mcnemarExact(1000, 1100)).toBeCloseTo(0.0306, 3);
    expect(mcnemarExact(0, 5000)).toBe(0);
  });
});

const cell = fc
  .record({ n: fc.integer({ min: 1, max: 10 }), share: fc.double({ min: 0, max: 1, noNaN: true }) })
  .map(({ n, share }) => ({ n, c: Math.round(n * share) }));
const pairs: fc.Arbitrary<TaskPair[]> = fc.array(fc.record({ a: cell, b: cell }), { maxLength: 40 });

describe("paired", () => {
  it("calls a task passed in more than half of its runs, and no more than that", () => {
    const table: [a: [number, number], b: [number, number], "wins" | "losses" | "ties"][] = [
      [[10, 6], [10, 5], "wins"],
      [[10, 5], [1, 1], "losses"],
      [[2, 1], [2, 0], "ties"],
      [[10, 10], [10, 6], "ties"],
      [[3, 2], [3, 1], "wins"],
    ];
    for (const [[an, ac], [bn, bc], kind] of table) {
      expect(paired([{ a: { n: an, c: ac }, b: { n: bn, c: bc } }])[kind]).toBe(1);
    }
  });

  it("gives difference and interval as by hand: differences 0.5, 0.3, 0.1, 0.1", () => {
    const rates = [
      [10, 5],
      [8, 5],
      [4, 3],
      [10, 9],
    ] as const;
    const result = paired(rates.map(([a, b]) => ({ a: { n: 10, c: a }, b: { n: 10, c: b } })));
    // From -1 to 1 these are shares of 0.75, 0.65, 0.55 and 0.55.
    const { low, high } = boundsOf({ mean: 0.625, variance: 0.11 / 3 / 4, tasks: 4, lowest: 0.55, highest: 0.75 });
    expect(result).toMatchObject({ tasks: 4, wins: 2, losses: 0, ties: 2 });
    expect(result.success_rate_a).toBeCloseTo(0.8, 12);
    expect(result.success_rate_b).toBeCloseTo(0.55, 12);
    expect(result.difference).toBeCloseTo(0.25, 12);
    expect([result.difference_low, result.difference_high]).toEqual([
      expect.closeTo(2 * low - 1, 12),
      expect.closeTo(2 * high - 1, 12),
    ]);
  });

  it("tells nothing of no task, and no spread of one", () => {
    const none = {
      tasks: 0,
      wins: 0,
      losses: 0,
      ties: 0,
      mcnemar_p_value: 1,
      success_rate_a: null,
      success_rate_b: null,
    };
    expect(paired([])).toEqual({ ...none, difference: null, difference_low: -1, difference_high: 1 });
    expect(paired([{ a: { n: 1, c: 1 }, b: { n: 1, c: 0 } }])).toMatchObject({
      difference: 1,
      difference_low: -1,
      difference_high: 1,
    });
  });

  it("holds the difference in its interval, which turns about when the agents change places", () => {
    fc.assert(
      fc.property(pairs, (tasks) => {
        const one = paired(tasks);
        const other = paired(tasks.map(({ a, b }) => ({ a: b, b: a })));
        expect(one.wins + one.losses + one.ties).toBe(tasks.length);
        expect([other.wins, other.losses, other.mcnemar_p_value]).toEqual([one.losses, one.wins, one.mcnemar_p_value]);
        expect(one.mcnemar_p_value).toBeLessThanOrEqual(1);
        if (one.difference === null) return;
        expect(one.difference).toBeCloseTo((one.success_rate_a ?? 0) - (one.success_rate_b ?? 0), 12);
        expect(one.difference_low).toBeLessThanOrEqual(one.difference);
        expect(one.difference_high).toBeGreaterThanOrEqual(one.difference);
        // The quantiles of a skewed Beta distribution and of its mirror image agree to their own precision.
        expect(other.difference_low).toBeCloseTo(-one.difference_high, 9);
      }),
    );
  });

  it("sees no difference between equal records, but is not sure of it", () => {
    fc.assert(
      fc.property(fc.array(cell, { minLength: 2 }), (cells) => {
        const same = paired(cells.map((task) => ({ a: task, b: task })));
        expect(same).toMatchObject({ wins: 0, losses: 0, difference: 0 });
        expect(same.difference_low).toBeLessThan(0);
        expect(same.difference_high).toBeCloseTo(-same.difference_low, 9);
      }),
    );
  });
});

function ones(mask: number): number {
  return mask.toString(2).replaceAll("0", "").length;
}
