import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { takeBack } from "../db/owed.ts";
import { runs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { oweScore } from "./messages.ts";
import { appendPhases } from "./phases.ts";

/** Ends the wait for a callback that did not come before the deadline, and has the run scored as the agent's failure. */
export async function expire(ctx: Context, runId: string): Promise<void> {
  await write(ctx, {
    parts: sql`with taken_back as (${takeBack(["expire"], sql`${runId}::uuid`)}
    ), ${expiring(sql`r.id = ${runId}::uuid`, ctx.now())}`,
    hands: ["scores"],
    select: sql`select to_jsonb(count(*)) from expired`,
    result: z.number(),
  });
}

/**
 * SQL: the parts `expired`, `facts` and `scores` of a statement that fails the running runs within `scope` (a condition
 * over runs `r`) whose callback did not come before the deadline. `scores` are messages.
 */
export function expiring(scope: SQL, now: Date): SQL {
  return sql`expired as (
      update ${runs} r set answered_at = ${now.toISOString()}::timestamptz, awaiting_callback = false, callback_hash = null,
        lease_expires_at = null, failure_code = 'agent_timeout', failure_detail = 'No callback came before the deadline.'
      where ${scope} and r.status = 'running' and r.awaiting_callback and r.answered_at is null
        and r.deadline_at <= ${now.toISOString()}::timestamptz
      returning r.id, r.attempt
    ), facts as (${appendPhases(
      sql`select id from expired`,
      [{ phase: "response_received", outcome: "failed", metadata: { failure_code: "agent_timeout" } }],
      now,
    )}
    ), scores as (${oweScore(sql`select id, attempt, null::timestamptz as not_before from expired`)})`;
}
