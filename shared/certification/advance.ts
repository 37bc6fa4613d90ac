import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { agents, certifications, isInScreening, isOpenRun, runs, SCREENING_STATES } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { reopenSessions } from "../runs/session-parts.ts";
import { buyerNow } from "./buyer.ts";
import { issueCredential } from "./issue-credential.ts";
import { lockCertification } from "./lock.ts";
import { keptPlan } from "./plan.ts";
import { RESERVING, reserving } from "./reserve.ts";
import { oweChanges } from "./told.ts";
import { conclude } from "./verdict.ts";

/** The body of the message that advances a certification. */
export const CertifyMessage = z.strictObject({ certification_id: z.uuid() });

/**
 * Takes a certification as far as it can go now: reserves runs for the tasks of its plan that have none, and again for
 * what failed by our fault; concludes it once every run is final and none is missing; signs the credential if it is certified. It may be
 * called any number of times, also at once.
 */
export async function advance(ctx: Context, certificationId: string): Promise<void> {
  const state = await reserveMissing(ctx, certificationId);
  if (state?.status === "screening" && !state.has_open_runs) await conclude(ctx, certificationId);
  await issueCredential(ctx, certificationId);
}

const State = z.object({ status: z.enum(SCREENING_STATES), has_open_runs: z.boolean() });

/** Reserves what can be reserved; returns null for a certification that is not being screened. */
function reserveMissing(ctx: Context, certificationId: string): Promise<z.output<typeof State> | null> {
  const now = ctx.now();
  return write(ctx, {
    lock: lockCertification(certificationId),
    parts: sql`with target as (
      select c.id as certification_id, c.screening_session_id as session_id, c.agent_id, ${buyerNow} as buyer_id,
        c.runs_included
      from ${certifications} c join ${agents} a on a.id = c.agent_id where c.id = ${certificationId}::uuid and ${isInScreening(sql`c.status`)}
    ), ${keptPlan}, ${reserving(now)}, reopened as (
      ${reopenSessions(sql`select screening_session_id from reserved`)}
    ), updated as (
      update ${certifications} c set status = s.status, paused_reason = s.paused_reason,
        updated_at = ${now.toISOString()}::timestamptz
      from next_state s where c.id = s.certification_id returning c.*, old.status as previous
    ), changes as (${oweChanges(sql`select * from updated where status <> previous`, now)})`,
    owes: [...RESERVING, "changes"],
    select: sql`select jsonb_build_object('status', s.status,
      'has_open_runs', exists (select from reserved) or exists (select from ${runs} r
        where r.screening_session_id = s.session_id and ${isOpenRun(sql`r.status`)})) as result
      from next_state s`,
    result: State,
  });
}
