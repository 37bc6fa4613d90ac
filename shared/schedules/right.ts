import { sql } from "drizzle-orm";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { assertRight } from "../teams/right.ts";
import { visibleSchedules } from "./view.ts";

/** Throws 404 for a schedule that is not visible, `forbidden` where the caller may not change it. */
export async function assertScheduleRight(ctx: Context, { userId }: UserPrincipal, id: string): Promise<void> {
  await assertRight(ctx, "schedule", sql`${visibleSchedules(userId)} and s.id = ${id}::uuid`);
}
