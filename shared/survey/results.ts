import { sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../db/change.ts";
import { survey_responses } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { daysAgo } from "./recent.ts";
import { PMFResultsRead } from "./schemas.ts";

/**
 * What all accounts together answered in the last `days` days, as counts alone. The Net Promoter Score is that of
 * Reichheld, "The One Number You Need to Grow", Harvard Business Review, December 2003; halves round away from 0.
 */
export async function readResults(ctx: Context, days: number): Promise<z.output<typeof PMFResultsRead>> {
  const results = await read(
    ctx,
    PMFResultsRead,
    sql`with r as (
      select score, disappointment from ${survey_responses}
      where score is not null and created_at > ${daysAgo(ctx, days)}
    ), counted as (
      select count(*) as responses, count(*) filter (where score >= 9) as promoters,
        count(*) filter (where score in (7, 8)) as passives, count(*) filter (where score <= 6) as detractors
      from r
    )
    select to_jsonb(c) || jsonb_build_object('days', ${days}::integer,
      'nps', coalesce(round(100.0 * (promoters - detractors) / nullif(responses, 0), 1), 0),
      'disappointment', (select jsonb_build_object('very', count(*) filter (where disappointment = 'very'),
        'somewhat', count(*) filter (where disappointment = 'somewhat'),
        'not', count(*) filter (where disappointment = 'not')) from r)) as result
    from counted c`,
  );
  if (results === null) throw new Error("a count without groups gave no row");
  return results;
}
