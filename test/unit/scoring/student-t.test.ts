import { describe, expect, it } from "vitest";
import { studentT975 } from "../../../shared/scoring/student-t.ts";

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
