import type * as z from "zod";
import { AXES, type Weights } from "./shown.ts";

/** A weight for each axis. */
export type AxisWeights = z.output<typeof Weights>;

/** Weights whose sum differs from 1 by no more than this are taken as they are, unless one of them is above 1. */
const TOLERANCE = 1e-9;

/**
 * The weights divided by their sum, so that none is above 1. Those that add up to 1 stay as they are, so that what was
 * read can be sent back without a change in the last digit.
 *
 * @param weights finite, at least 0, and not all 0
 */
export function normalised(weights: AxisWeights): AxisWeights {
  const sum = AXES.reduce((total, axis) => total + weights[axis], 0);
  if (Math.abs(sum - 1) <= TOLERANCE && AXES.every((axis) => weights[axis] <= 1)) return weights;
  const { correctness, latency, cost, tool_efficiency, robustness } = weights;
  return {
    correctness: correctness / sum,
    latency: latency / sum,
    cost: cost / sum,
    tool_efficiency: tool_efficiency / sum,
    robustness: robustness / sum,
  };
}
