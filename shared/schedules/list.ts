import { sql } from "drizzle-orm";
import { readJson } from "../db/statement.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { scheduleJson, type ScheduleRow, visibleSchedules } from "./view.ts";

/** A page of the schedules of the caller's own agents and those of the caller's workspaces, newest first. */
export async function listSchedules(
  ctx: Context,
  principal: SessionPrincipal,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<{ items: ScheduleRow[]; total: number }> {
  const result = await readJson<{ items: ScheduleRow[]; total: number }>(
    ctx,
    sql`with hits as (${visibleSchedules(principal.userId)}),
    paged as (select * from hits s order by s.id desc limit ${size} offset ${(page - 1) * size})
    select jsonb_build_object('total', (select count(*) from hits),
      'items', coalesce((select jsonb_agg(${scheduleJson} order by s.id desc) from paged s), '[]')) as result`,
  );
  return result ?? { items: [], total: 0 };
}
