import * as z from "zod";

const share = z.number().min(0).max(1).nullable();

/** The five fitness axes of one run or of an agent, 0 to 1; null without evidence. */
export const Axes = z
  .object({ correctness: share, latency: share, cost: share, tool_efficiency: share, robustness: share })
  .meta({ id: "Axes" });
