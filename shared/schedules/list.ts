import { sql } from "drizzle-orm";
import { read } from "../db/change.ts";
import { pageResult } from "../db/page-result.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { type Schedule, ScheduleRead } from "./shown.ts";
import { scheduleJson, schedulesOfOwners } from "./view.ts";

/** A page of the schedules of the caller's own agents and those of the caller's workspaces, newest first. */
export async function listSchedules(
  ctx: Context,
  { userId }: UserPrincipal,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<{ items: Schedule[]; total: number }> {
  const result = await read(
    ctx,
    pageResult(ScheduleRead),
    sql`with hits as (${schedulesOfOwners(userId)}),
    paged as (select * from hits s order by s.id desc limit ${size} offset ${(page - 1) * size})
    select jsonb_build_object('total', (select count(*) from hits),
      'items', coalesce((select jsonb_agg(${scheduleJson} order by s.id desc) from paged s), '[]')) as result`,
  );
  return result ?? { items: [], total: 0 };
}
