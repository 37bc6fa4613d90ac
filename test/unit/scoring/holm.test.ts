import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { holm } from "../../../shared/scoring/holm.ts";

const probability = fc.double({ min: 0, max: 1, noNaN: true });
const several = fc.array(probability, { minLength: 1, maxLength: 45 });

/** Numbers from 0 to 1 that look random, the same in every run. */
function uniform(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("holm", () => {
  it.each([
    // The four hypotheses of the usual worked example: at 0.05 the first and the last are rejected.
    [
      [0.01, 0.04, 0.03, 0.005],
      [0.03, 0.06, 0.06, 0.02],
    ],
    [[0.2], [0.2]],
    [[], []],
    [
      [0.6, 0.5, 0.7],
      [1, 1, 1],
    ],
    [
      [0.01, 0.01, 0.02],
      [0.03, 0.03, 0.03],
    ],
  ])("of %j is %j", (given, expected) => {
    expect(holm(given)).toEqual(expected.map((p) => expect.closeTo(p, 12)));
  });

  // Benjamini and Hochberg, Controlling the False Discovery Rate, JRSS B 57:289 (1995), 3.2: of these 15 endpoints the
  // procedures that keep the familywise error at 0.05 reject three.
  it("rejects three endpoints of the thrombolysis study of Neuhaus et al.", () => {
    const endpoints = [
      0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719, 0.6528, 0.759, 1,
    ];
    expect(holm(endpoints).map((p) => p <= 0.05)).toEqual(endpoints.map((p) => p <= 0.0019));
  });

  it("rejects at every level what Holm's steps reject: from the smallest on, while p ≤ alpha / (what is left)", () => {
    fc.assert(
      fc.property(several, probability, (given, alpha) => {
        // At the level 1 all is rejected, whatever it is.
        fc.pre(alpha < 1);
        const ascending = given.toSorted((a, b) => a - b);
        const kept = ascending.findIndex((p, step) => p * (given.length - step) > alpha);
        const rejected = kept < 0 ? given.length : kept;
        expect(holm(given).filter((p) => p <= alpha).length).toBe(rejected);
      }),
    );
  });

  it("keeps the order, stays between the p-value and Bonferroni's, and goes along with the order of what it is given", () => {
    fc.assert(
      fc.property(several, (given) => {
        const adjusted = holm(given);
        for (const [one, p] of given.entries()) {
          const own = adjusted[one] ?? Number.NaN;
          expect(own).toBeGreaterThanOrEqual(p);
          expect(own).toBeLessThanOrEqual(Math.min(1, p * given.length));
          for (const [other, q] of given.entries()) if (p < q) expect(own).toBeLessThanOrEqual(adjusted[other] ?? 0);
        }
        expect(holm(given.toReversed())).toEqual(adjusted.toReversed());
      }),
    );
  });

  it("calls one of 45 equal pairs different by chance in at most 5% of the comparisons; the bare p-values do in most", () => {
    const random = uniform(17);
    const rounds = 4000;
    let [bare, corrected] = [0, 0];
    for (let round = 0; round < rounds; round++) {
      const given = Array.from({ length: 45 }, random);
      bare += Number(given.some((p) => p <= 0.05));
      corrected += Number(holm(given).some((p) => p <= 0.05));
    }
    expect(bare / rounds).toBeGreaterThan(0.85);
    expect(corrected / rounds).toBeLessThan(0.06);
    expect(corrected / rounds).toBeGreaterThan(0.035);
  });
});
