import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundsOf, interval, type Sample, toScore } from "../../../shared/scoring/interval.ts";
import { betaMass } from "../../../shared/scoring/beta.ts";

/** What the values of tasks come to. */
function sampleOf(values: readonly number[]): Sample {
  const tasks = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / tasks;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(tasks - 1, 1);
  return { mean, variance, tasks, lowest: Math.min(...values), highest: Math.max(...values) };
}

const alike = (value: number, tasks: number): Sample => sampleOf(Array.from({ length: tasks }, () => value));
const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2, maxLength: 60 });

describe("interval", () => {
  it("is all there is for fewer than two tasks, which tell no spread", () => {
    expect(interval({ mean: 0.5, variance: 0.04, tasks: 0, lowest: 0, highest: 1 })).toEqual({ low: 0, high: 100 });
    expect(interval(alike(0.5, 1))).toEqual({ low: 0, high: 100 });
  });

  it("is of some width below certainty, however alike the tasks and however many", () => {
    for (const tasks of [2, 5, 10, 40, 100]) {
      for (const value of [0, 0.03, 0.5, 0.82, 0.9357, 0.99]) {
        const { low, high } = interval(alike(value, tasks));
        expect(high - low, `${tasks} tasks of ${value}`).toBeGreaterThan(0);
        expect(high, `${tasks} tasks of ${value}`).toBeGreaterThan(100 * value);
        if (value > 0) expect(low, `${tasks} tasks of ${value}`).toBeLessThan(100 * value);
      }
      expect(interval(alike(1, tasks))).toMatchObject({ high: 100 });
      expect(interval(alike(0, tasks))).toMatchObject({ low: 0 });
    }
  });

  it("holds the mean, stays within 0 and 100, and turns about with the values", () => {
    fc.assert(
      fc.property(shares, (values) => {
        const sample = sampleOf(values);
        const { low, high } = boundsOf(sample);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
        expect(low).toBeLessThanOrEqual(sample.mean);
        expect(high).toBeGreaterThanOrEqual(sample.mean);
        const turned = boundsOf(sampleOf(values.map((value) => 1 - value)));
        expect(turned.low).toBeCloseTo(1 - high, 6);
        expect(turned.high).toBeCloseTo(1 - low, 6);
      }),
    );
  });

  it("narrows with more tasks of the same spread, as their root", () => {
    fc.assert(
      fc.property(shares, fc.integer({ min: 1, max: 20 }), (values, more) => {
        const sample = sampleOf(values);
        const fewer = boundsOf(sample);
        const wider = boundsOf({ ...sample, tasks: sample.tasks + more });
        expect(wider.low).toBeGreaterThanOrEqual(fewer.low - 1e-9);
        expect(wider.high).toBeLessThanOrEqual(fewer.high + 1e-9);
      }),
    );
    const wide = boundsOf({ mean: 0.6, variance: 0.04, tasks: 100, lowest: 0, highest: 1 });
    const narrow = boundsOf({ mean: 0.6, variance: 0.04, tasks: 10_000, lowest: 0, highest: 1 });
    expect((wide.high - wide.low) / (narrow.high - narrow.low)).toBeCloseTo(10, 0);
    expect(narrow.high - narrow.low).toBeCloseTo(2 * 1.96 * 0.002, 4);
  });

  it("is that of a Beta posterior where tasks are either won or lost", () => {
    // 7 of 10: the variance over what it could be at most is 1.11, so the prior weighs 0.3 of a task.
    const { low, high } = boundsOf(sampleOf([1, 1, 1, 1, 1, 1, 1, 0, 0, 0]));
    expect(betaMass(low, 7, 3.3)).toBeCloseTo(0.025, 8);
    expect(betaMass(high, 7.3, 3)).toBeCloseTo(0.975, 8);
  });
});

it("rounds a tie up whatever the order of the sum that made it", () => {
  // As a double, 0.00145 × 10,000 is 14.499999999999998.
  expect(toScore(0.00145)).toBe(0.15);
  expect(toScore(0.72675)).toBe(72.68);
  expect(toScore(0.1 + 0.2 + 0.00005)).toBe(toScore(0.2 + 0.00005 + 0.1));
});
