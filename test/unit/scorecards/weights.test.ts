import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AXES, Weights } from "../../../shared/scorecards/shown.ts";
import { findTemplate, TEMPLATES } from "../../../shared/scorecards/templates.ts";
import { type AxisWeights, normalised } from "../../../shared/scorecards/weights.ts";

const weight = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1_000_000, noNaN: true }), fc.nat(10));
const weights: fc.Arbitrary<AxisWeights> = fc
  .record({ correctness: weight, latency: weight, cost: weight, tool_efficiency: weight, robustness: weight })
  .filter((given) => AXES.some((axis) => given[axis] > 0));
const sumOf = (given: AxisWeights) => AXES.reduce((sum, axis) => sum + given[axis], 0);

describe("normalised weights", () => {
  it("add up to 1, keep their proportions, and stay to the last bit when they are normalised again", () => {
    fc.assert(
      fc.property(weights, (given) => {
        const once = normalised(given);
        expect(Math.abs(sumOf(once) - 1)).toBeLessThanOrEqual(1e-9);
        for (const axis of AXES) expect(once[axis]).toBeCloseTo(given[axis] / sumOf(given), 8);
        expect(normalised(once)).toEqual(once);
        expect(normalised(JSON.parse(JSON.stringify(once)) as AxisWeights)).toEqual(once);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([1 + Number.EPSILON, 1 + 1e-10, 1 + 1e-9, 5e-324])("are none above 1, as of %d alone", (correctness) => {
    const once = normalised({ correctness, latency: 0, cost: 0, tool_efficiency: 0, robustness: 0 });
    expect(Weights.parse(once).correctness).toBe(1);
  });
});

describe("the templates", () => {
  it("are the contract's four, with weights that are normalised and ids of their own", () => {
    expect(TEMPLATES.map(({ name }) => name)).toEqual([
      "Balanced Screen",
      "Cost-Conscious Ops",
      "Mission-Critical Reliability",
      "Real-Time Experience",
    ]);
    for (const { weights: own } of TEMPLATES) expect(normalised(own)).toEqual(own);
    expect(new Set(TEMPLATES.map(({ id }) => id)).size).toBe(4);
  });

  it("weigh most what their names say", () => {
    const heaviest = ({ weights: own }: { weights: AxisWeights }) => {
      const most = Math.max(...Object.values(own));
      return AXES.filter((axis) => own[axis] === most);
    };
    expect(TEMPLATES.map(heaviest)).toEqual([AXES, ["cost"], ["robustness"], ["latency"]]);
  });

  it("are found by id in any case, and by no other id", () => {
    for (const one of TEMPLATES) expect(findTemplate(one.id.toUpperCase())).toBe(one);
    expect(findTemplate("01a19467-e800-7000-8000-000000000005")).toBeNull();
  });
});
