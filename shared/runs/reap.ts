import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { runs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { dropSpans } from "../telemetry/forget.ts";
import { expire } from "./expire.ts";
import { giveUpEach } from "./give-up.ts";
import { oweDispatchAgain } from "./messages.ts";

/** How often a run is taken up before it is given up as our fault. */
const MAX_ATTEMPTS = 5;

/** Runs that one call looks at. */
const BATCH_SIZE = 200;

const Reaped = z.object({ runs: z.int(), waiting: z.array(z.uuid()), hopeless: z.array(z.uuid()) });

/**
 * Finds running runs whose lease has expired: for those that wait for a callback past their deadline `expire` ends the
 * wait, others are freed to be taken up again, without what their agents sent of the attempt that was lost, or given up as
 * our fault after five attempts. At most 200 a call; returns how many.
 */
export async function reap(ctx: Context): Promise<number> {
  const now = ctx.now();
  const hasExpired = sql`r.status = 'running' and r.lease_expires_at < now()`;
  // What was reported while the call was open is not asked for again: who has said it once may not say it a second time.
  const isHopeless = sql`not r.awaiting_callback and (r.attempt >= ${MAX_ATTEMPTS} or r.answered_at is not null)`;
  const reaped = await write(ctx, {
    parts: sql`with batch as (
      select r.id, r.awaiting_callback, ${isHopeless} as is_hopeless from ${runs} r where ${hasExpired}
      order by r.lease_expires_at limit ${BATCH_SIZE} for update skip locked
    ), freed as (
      update ${runs} r set lease_token = null, lease_expires_at = null, callback_hash = null
      from batch b where r.id = b.id and not b.awaiting_callback and not b.is_hopeless
      returning r.id, r.agent_id
    ), dropped as (${dropSpans(sql`select id from freed`)}
    ), dispatches as (${oweDispatchAgain("freed")})`,
    owes: ["dispatches"],
    select: sql`select jsonb_build_object('runs', count(*),
      'waiting', coalesce(jsonb_agg(id) filter (where awaiting_callback), '[]'),
      'hopeless', coalesce(jsonb_agg(id) filter (where is_hopeless), '[]')) from batch`,
    result: Reaped,
  });
  if (reaped === null || reaped.runs === 0) return 0;
  ctx.log.info("reaped", { runs: reaped.runs, at: now.toISOString() });
  // By its agent's lock a run becomes final: only those of these runs are locked, and none where all can be taken up again.
  if (reaped.hopeless.length > 0) await giveUpEach(ctx, reaped.hopeless, sql`${hasExpired} and ${isHopeless}`);
  if (reaped.waiting.length > 0) await expire(ctx, reaped.waiting);
  return reaped.runs;
}
