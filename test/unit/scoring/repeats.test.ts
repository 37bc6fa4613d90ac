import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { COIN_TOSS, repeatsFor, spreadOf, widthOf } from "../../../shared/scoring/repeats.ts";
import { sampleVariance } from "../../../shared/scoring/score.ts";
import { studentT975 } from "../../../shared/scoring/student-t.ts";

const cell = fc
  .record({ n: fc.integer({ min: 1, max: 10 }), share: fc.double({ min: 0, max: 1, noNaN: true }) })
  .map(({ n, share }) => ({ n, c: Math.round(n * share) }));
const cells = fc.array(cell, { minLength: 2, maxLength: 60 });
const width = fc.double({ min: 0.01, max: 0.5, noNaN: true });

/** The same tasks, each of `n` runs. */
const evenly = (n: number, passes: readonly number[]) => passes.map((c) => ({ n, c }));

describe("repeatsFor", () => {
  it.each([
    // By hand, with t = 2.0227 for 39 degrees of freedom: (2 t)² × 0.25 / 40 = 0.10228 over the width squared.
    [0.1, 40, 11],
    [0.2, 40, 3],
    [0.32, 40, 1],
    // t = 12.706: 80.7 / 0.25.
    [0.5, 2, 323],
    [0.01, 2, null],
    [0.5, 1, null],
    [0.5, 0, null],
  ])("to a width of %d over %d coin tosses: %j", (wanted, tasks, repeats) => {
    expect(repeatsFor(wanted, COIN_TOSS, tasks)).toBe(repeats);
  });

  it("is the least number that reaches the width; where there is none, a thousand don't", () => {
    fc.assert(
      fc.property(cells, width, (tasks, wanted) => {
        const spread = spreadOf(tasks);
        const repeats = repeatsFor(wanted, spread, tasks.length);
        const reached = (count: number) => widthOf(spread, tasks.length, count) <= wanted * (1 + 1e-9);
        expect(reached(repeats ?? 1000)).toBe(repeats !== null);
        if (repeats !== null && repeats > 1) expect(reached(repeats - 1)).toBe(false);
      }),
    );
  });

  it("never asks for more repeats to reach a wider interval", () => {
    fc.assert(
      fc.property(cells, width, width, (tasks, one, other) => {
        const [narrow, wide] = [Math.min(one, other), Math.max(one, other)];
        const repeats = (wanted: number) =>
          repeatsFor(wanted, spreadOf(tasks), tasks.length) ?? Number.POSITIVE_INFINITY;
        expect(repeats(wide)).toBeLessThanOrEqual(repeats(narrow));
      }),
    );
  });
});

describe("widthOf", () => {
  it("is the width of the interval as it stands, at the repeats that the record has", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        fc.array(fc.nat(10), { minLength: 2, maxLength: 60 }),
        (n, passes) => {
          const tasks = evenly(
            n,
            passes.map((c) => Math.min(c, n)),
          );
          const spread = spreadOf(tasks);
          const shown =
            2 * studentT975(tasks.length - 1) * Math.sqrt(sampleVariance(tasks.map(({ c }) => c / n)) / tasks.length);
          if (spread.between > 0) expect(widthOf(spread, tasks.length, n)).toBeCloseTo(Math.min(1, shown), 9);
          else expect(widthOf(spread, tasks.length, n)).toBeGreaterThanOrEqual(Math.min(1, shown) - 1e-9);
        },
      ),
    );
  });
});

describe("spreadOf", () => {
  it("finds the parts that the runs were drawn with", () => {
    // Tasks of 0.2 and 0.8 alike: within 0.16, between 0.09. A fixed generator, so that the test can't fail by chance.
    let state = 7;
    const random = () => {
      state = (state * 16_807) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    const tasks = Array.from({ length: 4000 }, (_none, index) => {
      const rate = index % 2 === 0 ? 0.2 : 0.8;
      return { n: 10, c: Array.from({ length: 10 }, random).filter((toss) => toss < rate).length };
    });
    const { within, between } = spreadOf(tasks);
    expect(between).toBeCloseTo(0.09, 2);
    expect(within).toBeCloseTo(0.16, 1);
  });

  it("lays all on the tasks when their runs agree, and nothing when tasks are alike", () => {
    expect(spreadOf(evenly(10, [0, 10, 0, 10])).between).toBeGreaterThan(0.32);
    expect(spreadOf(evenly(10, [5, 5, 5, 5])).between).toBe(0);
    expect(spreadOf(evenly(1, [0, 1, 1, 1])).within).toBeCloseTo(1 / 6, 12);
  });
});
