import * as z from "zod";
import { Instant } from "../platform/time.ts";

const score = z.int().min(0).max(10);
const disappointment = z.enum(["very", "somewhat", "not"]);

export const PMFResponseCreate = z
  .strictObject({
    score: score.meta({ description: "How likely a recommendation is, from 0 (not at all) to 10" }),
    disappointment: disappointment.meta({ description: "How disappointed one would be to lose the service" }),
    comment: z.string().trim().max(2000).optional().meta({ description: "For the operators alone" }),
  })
  .meta({ id: "PMFResponseCreate" });

export const PMFResponseRead = z
  .object({ id: z.uuid(), score, disappointment, comment: z.string().nullable(), created_at: Instant })
  .meta({ id: "PMFResponseRead" });

/** What is kept of an account's turn at the survey: an answer, or that it was closed unanswered. */
export const SurveyTurn = PMFResponseRead.extend({
  score: score.nullable(),
  disappointment: disappointment.nullable(),
});

export const PMFDismissRead = z.object({ dismissed: z.literal(true) }).meta({ id: "PMFDismissRead" });

const count = z.int().min(0);

export const PMFResultsRead = z
  .object({
    days: z.int().meta({ description: "How many days back from now the responses count" }),
    responses: count.meta({ description: "One per account in 30 days; dismissals do not count" }),
    promoters: count.meta({ description: "Scores of 9 and 10" }),
    passives: count.meta({ description: "Scores of 7 and 8" }),
    detractors: count.meta({ description: "Scores from 0 to 6" }),
    nps: z.number().min(-100).max(100).meta({
      description: "Net Promoter Score: % promoters − % detractors, to one decimal; 0 without responses",
    }),
    disappointment: z.object({ very: count, somewhat: count, not: count }).meta({ description: "Responses by answer" }),
  })
  .meta({ id: "PMFResultsRead" });
