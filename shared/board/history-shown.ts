import * as z from "zod";
import { SCORE_BASES } from "../agents/score-bases.ts";

const score = z.number().min(0).max(100);

export const AgentHistory = z
  .object({
    items: z
      .array(
        z.object({
          day: z.iso.date(),
          composite_score: score,
          score_low: score,
          score_high: score,
          rank: z.int().min(1).nullable().meta({ description: "Null where the public board did not rank it" }),
          runs: z.int(),
          score_basis: z.enum(SCORE_BASES),
          simulated: z.boolean(),
        }),
      )
      .meta({ description: "Newest first; days without a score, and days that were not kept, are left out" }),
  })
  .meta({ id: "AgentHistory" });
