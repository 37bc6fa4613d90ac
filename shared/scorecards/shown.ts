import * as z from "zod";
import { Instant } from "../platform/time.ts";

/** The fitness axes, in the order in which the contract names them. */
export const AXES = ["correctness", "latency", "cost", "tool_efficiency", "robustness"] as const;

const weight = z.number().min(0).max(1);

/** Weights of the axes, which add up to 1. */
export const Weights = z
  .object({ correctness: weight, latency: weight, cost: weight, tool_efficiency: weight, robustness: weight })
  .meta({ id: "ScorecardWeights" });

export const ScorecardRead = z
  .object({
    id: z.uuid(),
    name: z.string(),
    weights: Weights,
    team_id: z.uuid().nullable(),
    is_template: z.boolean().meta({ description: "A starter template: everybody's to read, nobody's to change" }),
    created_at: Instant,
  })
  .meta({ id: "ScorecardRead" });

/** A scorecard as it is shown. */
export type Scorecard = z.output<typeof ScorecardRead>;
