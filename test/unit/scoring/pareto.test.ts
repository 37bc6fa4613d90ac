import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ParetoPoint, paretoFront } from "../../../shared/scoring/pareto.ts";

const at = (pass_rate: number | null, cost: number | null): ParetoPoint => ({ pass_rate, cost });

describe("paretoFront", () => {
  it.each([
    ["nobody", [], []],
    ["one alone", [at(0.1, 5)], [true]],
    ["dearer and worse", [at(0.9, 1), at(0.8, 2)], [true, false]],
    ["dearer but better", [at(0.8, 1), at(0.9, 2)], [true, true]],
    ["as good at a higher cost", [at(0.9, 2), at(0.9, 1)], [false, true]],
    ["worse at the same cost", [at(0.9, 1), at(0.8, 1)], [true, false]],
    ["equals", [at(0.9, 1), at(0.9, 1), at(0.2, 3)], [true, true, false]],
    ["a free one that never passes", [at(0, 0), at(0.5, 1)], [true, true]],
    ["unknown values", [at(null, 1), at(1, null), at(0.1, 9)], [false, false, true]],
  ])("%s", (_, points, front) => {
    expect(paretoFront(points)).toEqual(front);
  });

  it("keeps exactly the points that no other dominates", () => {
    // Few distinct values, so that ties are common.
    const value = fc.option(fc.integer({ min: 0, max: 4 }));
    const points = fc.array(fc.record({ pass_rate: value, cost: value }), { maxLength: 12 });
    fc.assert(
      fc.property(points, (all) => {
        expect(paretoFront(all)).toEqual(all.map((one) => known(one) && !all.some((other) => dominates(other, one))));
      }),
    );
  });
});

function known(point: ParetoPoint): point is { pass_rate: number; cost: number } {
  return point.pass_rate !== null && point.cost !== null;
}

function dominates(other: ParetoPoint, one: ParetoPoint): boolean {
  if (!known(other) || !known(one)) return false;
  const noWorse = other.pass_rate >= one.pass_rate && other.cost <= one.cost;
  return noWorse && (other.pass_rate > one.pass_rate || other.cost < one.cost);
}
