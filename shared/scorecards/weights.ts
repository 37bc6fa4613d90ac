import type * as z from "zod";
import { AXES, type Weights } from "./shown.ts";

/** A weight for each axis. */
export type AxisWeights = z.output<typeof Weights>;

/** Weights whose sum differs from 1 by no more than this are taken as they are, unless one of them is above 1. */
const TOLERANCE = 1e-9;
/** A smaller part than this moves no score that is shown, and the database refuses what it can't multiply without loss. */
const LEAST = 1e-12;

/**
 * The weights divided by their sum, so that none is above 1; one that is next to nothing is 0. Those that add up to 1 stay
 * as they are, so that what was read can be sent back without a change in the last digit.
 *
 * @param weights finite, at least 0, and not all 0
 */
export function normalised(weights: AxisWeights): AxisWeights {
  const sum = AXES.reduce((total, axis) => total + weights[axis], 0);
  const addUp = Math.abs(sum - 1) <= TOLERANCE && AXES.every((axis) => weights[axis] <= 1);
  const part = (axis: keyof AxisWeights): number => {
    const weight = addUp ? weights[axis] : weights[axis] / sum;
    return weight < LEAST ? 0 : weight;
  };
  return {
    correctness: part("correctness"),
    latency: part("latency"),
    cost: part("cost"),
    tool_efficiency: part("tool_efficiency"),
    robustness: part("robustness"),
  };
}
