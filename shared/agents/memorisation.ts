import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { memorisation_gaps } from "../db/schema/index.ts";
import { isMemorised, memorisationGap } from "../scoring/memorisation.ts";

const gap = z.number().min(-1).max(1);

/** What is said of an agent that may know the published samples by heart. */
export const Memorisation = z.object({
  memorisation_gap: z
    .object({ value: gap, low: gap, high: gap, canary_runs: z.int() })
    .nullable()
    .meta({
      description:
        "The mean over tasks of the pass rate of canaries, which are asked the published sample, minus that of the scored " +
        "runs, over the last 100 canaries, with a 95% interval; null under 20 canaries",
    }),
  memorised: z.boolean().meta({ description: "That interval lies above 0.1: the samples were learned by heart" }),
});

/** The sums that it comes from, as `gapSums` gives them; null without a canary. */
export const GapSums = z
  .object({
    gap: z.number(),
    variance: z.number(),
    lowest: z.number(),
    highest: z.number(),
    tasks: z.int(),
    canary_runs: z.int(),
  })
  .nullable();

/** SQL: the `GapSums` of the agent row `a`. */
export const gapSums: SQL = sql`(select to_jsonb(g) - 'agent_id' from ${memorisation_gaps} g where g.agent_id = a.id)`;

/** What is said by these sums. */
export function toMemorisation(sums: z.output<typeof GapSums>): z.output<typeof Memorisation> {
  const memorisation_gap = sums === null ? null : memorisationGap(sums);
  return { memorisation_gap, memorised: isMemorised(memorisation_gap) };
}
