import * as z from "zod";
import { AXES } from "./shown.ts";

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
