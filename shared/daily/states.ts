import { sql } from "drizzle-orm";
import { utcText } from "../db/instant.ts";
import { daily_work } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { DAILY_ITEMS } from "./items.ts";

/** How an item of the daily work stands; both are null for one that was never done and never failed. */
export interface DailyState {
  name: string;
  /** When it was last done whole and without fault. */
  last_success_at: string | null;
  /** What went wrong since then. */
  last_error: string | null;
}

/** How each item of the daily work stands. One statement. */
export async function dailyStates(ctx: Context): Promise<DailyState[]> {
  const names = JSON.stringify(DAILY_ITEMS.map(({ name }) => name));
  const states = await readJson<DailyState[]>(
    ctx,
    sql`select jsonb_agg(jsonb_build_object('name', i.name, 'last_success_at', ${utcText(sql`d.last_success_at`)},
        'last_error', d.last_error) order by i.at) as result
      from jsonb_array_elements_text(${names}::jsonb) with ordinality i(name, at) left join ${daily_work} d on d.name = i.name`,
  );
  return states ?? [];
}
