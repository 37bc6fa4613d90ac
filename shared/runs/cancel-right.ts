import { sql } from "drizzle-orm";
import { runs } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { assertRight } from "../teams/right.ts";
import { mayCancel, runsWithAgents, visibleRun } from "./view.ts";

/** Throws 404 for a run that is not visible, `forbidden` where the caller may not cancel it. */
export async function assertCancelRight(ctx: Context, { userId }: UserPrincipal, runId: string): Promise<void> {
  await assertRight(
    ctx,
    "run",
    sql`select ${mayCancel("r", userId)} as allowed from ${runsWithAgents(sql`${runs}`)}
      where r.id = ${runId}::uuid and ${visibleRun(userId)}`,
  );
}
