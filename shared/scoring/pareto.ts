/** A member of a variant group: its pass rate (0 to 1) and mean cost per task in USD, null where unknown. */
export interface ParetoPoint {
  pass_rate: number | null;
  cost: number | null;
}

/**
 * Which points are Pareto-optimal, in the order given: no other point passes at least as much at no more cost and is
 * better in one of the two. Equal points are on the front together; a point that lacks a value is not on it.
 * @example
 * paretoFront([{ pass_rate: 0.9, cost: 0.02 }, { pass_rate: 0.8, cost: 0.01 }, { pass_rate: 0.8, cost: 0.02 }])
 * // [true, true, false]
 */
export function paretoFront(points: readonly ParetoPoint[]): boolean[] {
  const front = points.map(() => false);
  const ascending = points
    .flatMap(({ pass_rate, cost }, index) => (pass_rate === null || cost === null ? [] : [{ pass_rate, cost, index }]))
    .toSorted((a, b) => a.cost - b.cost || b.pass_rate - a.pass_rate);
  let best = { pass_rate: Number.NEGATIVE_INFINITY, cost: Number.NaN };
  for (const point of ascending) {
    if (point.pass_rate > best.pass_rate) best = point;
    front[point.index] = point.pass_rate === best.pass_rate && point.cost === best.cost;
  }
  return front;
}
