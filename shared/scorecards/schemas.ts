import * as z from "zod";
import { Instant } from "../platform/time.ts";
import { LeaderboardRow } from "../board/board.ts";

/** The fitness axes, in the order in which the contract names them. */
export const AXES = ["correctness", "latency", "cost", "tool_efficiency", "robustness"] as const;

const MAX_PART = 1_000_000;
const part = z.number().min(0).max(MAX_PART).default(0);
const name = z.string().trim().min(1).max(80);

const given = z
  .strictObject({ correctness: part, latency: part, cost: part, tool_efficiency: part, robustness: part })
  .refine((weights) => AXES.some((axis) => weights[axis] > 0), {
    message: "Give at least one axis a weight above 0.",
    params: { code: "validation_failed" },
  })
  .meta({
    description:
      "How much each axis counts: from 0 to 1,000,000, and not all 0; an axis that is not named has 0. They are divided " +
      "by their sum, so that they add up to 1.",
  });

export const ScorecardCreate = z
  .strictObject({
    name: name.meta({ description: "Unique among the owner's scorecards, in any case" }),
    weights: given,
    team_id: z
      .uuid()
      .optional()
      .meta({ description: "The workspace that owns it; without one it is the caller's own" }),
  })
  .meta({ id: "ScorecardCreate" });

export const ScorecardUpdate = z
  .strictObject({ name: name.optional(), weights: given.optional() })
  .meta({ id: "ScorecardUpdate" });

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

/** A row without a rank range: that of the public board is by composite, and says nothing of this order. */
export const ScorecardBoardRow = LeaderboardRow.omit({ rank_low: true, rank_high: true })
  .extend({
    scorecard_score: z.number().min(0).max(100).meta({ description: "100 × the weighted sum of the axes" }),
    missing_axes: z.array(z.enum(AXES)).meta({ description: "Axes without evidence; each counts 0" }),
  })
  .meta({ id: "ScorecardBoardRow" });
