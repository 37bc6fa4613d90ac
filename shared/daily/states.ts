import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { utcText } from "../db/instant.ts";
import { daily_work } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { DAILY_NAMES } from "./names.static.ts";

/** The state of an item of the daily work; both fields are null for one that has never been done and never failed. */
const DailyState = z.object({
  name: z.string(),
  /** When it was last completed without a fault. */
  last_success_at: z.string().nullable(),
  /** What has gone wrong since then. */
  last_error: z.string().nullable(),
});
export type DailyState = z.output<typeof DailyState>;

/** The state of each item of the daily work. One statement. */
export async function dailyStates(ctx: Context): Promise<DailyState[]> {
  const names = JSON.stringify(DAILY_NAMES);
  const states = await read(
    ctx,
    z.array(DailyState),
    sql`select jsonb_agg(jsonb_build_object('name', i.name, 'last_success_at', ${utcText(sql`d.last_success_at`)},
        'last_error', d.last_error) order by i.at) as result
      from jsonb_array_elements_text(${names}::jsonb) with ordinality i(name, at) left join ${daily_work} d on d.name = i.name`,
  );
  return states ?? [];
}
