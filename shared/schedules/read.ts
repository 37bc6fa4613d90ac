import { sql } from "drizzle-orm";
import { read } from "../db/change.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { type Schedule, ScheduleRead } from "./shown.ts";
import { scheduleJson, visibleSchedules } from "./view.ts";

/** One schedule of an agent that the caller has or shares; throws 404. */
export async function readSchedule(ctx: Context, { userId }: UserPrincipal, scheduleId: string): Promise<Schedule> {
  const schedule = await read(
    ctx,
    ScheduleRead,
    sql`select ${scheduleJson(ctx.now(), userId)} as result from (${visibleSchedules(userId)} and s.id = ${scheduleId}::uuid) s`,
  );
  if (schedule === null) throw notFound("schedule");
  return schedule;
}
