import { sql } from "drizzle-orm";
import { pageJson, shortParts } from "../db/listing.ts";
import { pageResult, readPage } from "../db/page-result.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { type Schedule, ScheduleRead } from "./shown.ts";
import { scheduleJson, schedulesOfOwners } from "./view.ts";

/** A page of the schedules of the caller's own agents and those of the caller's workspaces, newest first. */
export async function listSchedules(
  ctx: Context,
  { userId }: UserPrincipal,
  paging: { page: number; page_size: number },
): Promise<{ items: Schedule[]; total: number }> {
  const items = sql`(select json_agg(${scheduleJson(ctx.now(), userId)} order by s.id desc) from paged s)`;
  const result = await readPage(ctx, pageResult(ScheduleRead), paging, (stretch) => {
    const parts = shortParts(schedulesOfOwners(userId), "s", sql`s.id desc`, stretch);
    return sql`with ${parts} select ${pageJson(items)} as result`;
  });
  return result ?? { items: [], total: 0 };
}
