import * as z from "zod";
import { LeaderboardRow } from "../board/shown.ts";
import { AXES } from "./shown.ts";

/** A row without a rank range: that of the public board is by composite, and says nothing of this order. */
export const ScorecardBoardRow = LeaderboardRow.omit({ rank_low: true, rank_high: true })
  .extend({
    scorecard_score: z.number().min(0).max(100).meta({ description: "100 × the weighted sum of the axes" }),
    missing_axes: z.array(z.enum(AXES)).meta({ description: "Axes without evidence; each counts 0" }),
  })
  .meta({ id: "ScorecardBoardRow" });
