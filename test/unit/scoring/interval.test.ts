import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { interval, studentT975, toScore } from "../../../shared/scoring/interval.ts";

// NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2: upper critical values of Student's t, column 0.975.
const published: [df: number, t: number][] = [
  [1, 12.706],
  [2, 4.303],
  [3, 3.182],
  [4, 2.776],
  [5, 2.571],
  [6, 2.447],
  [7, 2.365],
  [8, 2.306],
  [9, 2.262],
  [10, 2.228],
  [11, 2.201],
  [12, 2.179],
  [13, 2.16],
  [14, 2.145],
  [15, 2.131],
  [16, 2.12],
  [17, 2.11],
  [18, 2.101],
  [19, 2.093],
  [20, 2.086],
  [21, 2.08],
  [22, 2.074],
  [23, 2.069],
  [24, 2.064],
  [25, 2.06],
  [26, 2.056],
  [27, 2.052],
  [28, 2.048],
  [29, 2.045],
  [30, 2.042],
  [40, 2.021],
  [60, 2.0],
  [100, 1.984],
  [120, 1.98],
  [Number.POSITIVE_INFINITY, 1.96],
];

describe("studentT975", () => {
  it.each(published)("gives the published value for %d degrees of freedom", (df, t) => {
    expect(studentT975(df).toFixed(3)).toBe(t.toFixed(3));
  });

  it.each([
    // Closed forms: tan(0.475 π) for one degree of freedom, 0.95 √(2 / (1 - 0.95²)) for two.
    [1, Math.tan(0.475 * Math.PI)],
    [2, 0.95 * Math.sqrt(2 / (1 - 0.95 ** 2))],
  ])("is exact where a closed form exists: %d", (df, t) => {
    expect(studentT975(df)).toBeCloseTo(t, 9);
  });

  it("leaves 2.5% of the density above it, by numeric integration", () => {
    for (const df of [1, 2, 3, 4, 7, 12, 29, 30, 31, 39, 99, 400]) {
      expect(Math.abs(upperTail(studentT975(df), df) - 0.025)).toBeLessThan(2e-9);
    }
  });

  it("falls with every further degree of freedom, towards the normal quantile", () => {
    const values = Array.from({ length: 300 }, (_, index) => studentT975(index + 1));
    expect(values.every((value, index) => index === 0 || value < (values[index - 1] ?? 0))).toBe(true);
    expect(values.every((value) => value > studentT975(Number.POSITIVE_INFINITY))).toBe(true);
  });

  it.each([0, -1, 1.5, Number.NaN])("refuses %d degrees of freedom", (df) => {
    expect(() => studentT975(df)).toThrow(RangeError);
  });
});

describe("interval", () => {
  it.each([
    { mean: 0.5, variance: 0.04, tasks: 0, low: 0, high: 100 },
    { mean: 0.5, variance: 0, tasks: 1, low: 0, high: 100 },
    // Half width by hand: t √(variance / tasks), here 12.7062 × 0.01 and 2.0227 × 0.1 / √40.
    { mean: 0.5, variance: 0.0002, tasks: 2, low: 37.29, high: 62.71 },
    { mean: 0.7, variance: 0.01, tasks: 40, low: 66.8, high: 73.2 },
    { mean: 0.99, variance: 0.01, tasks: 40, low: 95.8, high: 100 },
    { mean: 0.01, variance: 0.01, tasks: 40, low: 0, high: 4.2 },
    { mean: 0.6, variance: 0, tasks: 10, low: 60, high: 60 },
  ])("mean $mean, variance $variance, $tasks tasks: $low to $high", ({ mean, variance, tasks, low, high }) => {
    expect(interval(mean, variance, tasks)).toEqual({ low, high });
  });

  const share = fc.double({ min: 0, max: 1, noNaN: true });

  it("holds the mean and stays within 0 and 100", () => {
    fc.assert(
      fc.property(share, fc.double({ min: 0, max: 0.5, noNaN: true }), fc.nat(200), (mean, variance, tasks) => {
        const { low, high } = interval(mean, variance, tasks);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(100);
        expect(low).toBeLessThanOrEqual(toScore(mean));
        expect(high).toBeGreaterThanOrEqual(toScore(mean));
      }),
    );
  });

  it("never widens with more tasks of the same spread", () => {
    fc.assert(
      fc.property(share, fc.double({ min: 0, max: 0.25, noNaN: true }), fc.nat(100), (mean, variance, tasks) => {
        const fewer = interval(mean, variance, tasks);
        const more = interval(mean, variance, tasks + 1);
        expect(more.low).toBeGreaterThanOrEqual(fewer.low);
        expect(more.high).toBeLessThanOrEqual(fewer.high);
      }),
    );
  });
});

it("rounds a tie up whatever the order of the sum that made it", () => {
  // As a double, 0.00145 × 10,000 is 14.499999999999998.
  expect(toScore(0.00145)).toBe(0.15);
  expect(toScore(0.72675)).toBe(72.68);
  expect(toScore(0.1 + 0.2 + 0.00005)).toBe(toScore(0.2 + 0.00005 + 0.1));
});

/** The mass of Student's t above `from`: the density integrated over the angle, where the range is finite (Simpson). */
function upperTail(from: number, df: number): number {
  const steps = 2000;
  const density = (theta: number) => Math.cos(theta) ** (df - 1);
  const integrate = (a: number, b: number) => {
    const width = (b - a) / steps;
    let sum = density(a) + density(b);
    for (let step = 1; step < steps; step++) sum += density(a + step * width) * (step % 2 === 1 ? 4 : 2);
    return (sum * width) / 3;
  };
  const angle = Math.atan(from / Math.sqrt(df));
  return integrate(angle, Math.PI / 2) / integrate(-Math.PI / 2, Math.PI / 2);
}
