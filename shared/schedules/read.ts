import { sql } from "drizzle-orm";
import { readJson } from "../db/statement.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { scheduleJson, type ScheduleRow, visibleSchedules } from "./view.ts";

/** One schedule of an agent that the caller has or shares; throws 404. */
export async function readSchedule(
  ctx: Context,
  principal: SessionPrincipal,
  scheduleId: string,
): Promise<ScheduleRow> {
  const row = await readJson<ScheduleRow>(
    ctx,
    sql`select ${scheduleJson} as result from (${visibleSchedules(principal.userId)} and s.id = ${scheduleId}::uuid) s`,
  );
  if (row === null) throw notFound("schedule");
  return row;
}
