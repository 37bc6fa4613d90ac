import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { webhook_deliveries, webhooks } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { wake } from "./messages.ts";

/** How many attempts one call rescues at most. */
const BATCH_SIZE = 500;

/** How overdue an attempt is that nobody claimed before its message counts as lost: longer than the queue retries. */
const OVERDUE = sql`interval '1 hour'`;
/** How overdue an attempt is at least that was claimed and never ended. */
const ABANDONED = sql`interval '2 minutes'`;

/**
 * Has attempts made whose message was lost, and those whose holder is gone, at most 500 a call; returns how many. The
 * queue is owed one message for each of their subscriptions.
 */
export async function rescueDeliveries(ctx: Context): Promise<number> {
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const rescued = await write(ctx, {
    parts: sql`with lost as (
      select d.id from ${webhook_deliveries} d
      where d.status = 'pending' and d.next_attempt_at < ${at} - ${ABANDONED}
        and (d.lease_expires_at < now() or (d.lease_token is null and d.next_attempt_at < ${at} - ${OVERDUE}))
        and exists (select from ${webhooks} w where w.id = d.webhook_id)
      order by d.next_attempt_at limit ${BATCH_SIZE} for update skip locked
    ), released as (
      update ${webhook_deliveries} d set next_attempt_at = ${at}, lease_token = null, lease_expires_at = null
      from lost l where d.id = l.id returning d.webhook_id, d.next_attempt_at as due
    ), ${wake("messages", sql`select webhook_id, due from released`)}`,
    hands: ["messages"],
    select: sql`select to_jsonb(count(*)) as result from released`,
    result: z.int(),
  });
  return rescued ?? 0;
}
