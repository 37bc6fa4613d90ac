import { sql } from "drizzle-orm";
import { screening_schedules } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { notAllowed, visibleSchedules } from "./view.ts";

/** Deletes a schedule; what it started stays. Throws 404, 403. */
export async function removeSchedule(ctx: Context, principal: SessionPrincipal, scheduleId: string): Promise<void> {
  const allowed = await readJson<boolean>(
    ctx,
    sql`with target as (${visibleSchedules(principal.userId)} and s.id = ${scheduleId}::uuid), gone as (
      delete from ${screening_schedules} s using target t where s.id = t.id and t.allowed
    )
    select to_jsonb(allowed) as result from target`,
  );
  if (allowed === null) throw notFound("schedule");
  if (!allowed) throw notAllowed();
}
