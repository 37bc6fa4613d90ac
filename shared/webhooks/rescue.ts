import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { cursorOf, goOnBehind } from "../db/cursors.ts";
import { steppingOver } from "../db/pieces.ts";
import { webhook_deliveries, webhooks } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { wake } from "./messages.ts";

/** The most that one call looks at: subscriptions, attempts of one of them, those that have waited longest, and attempts. */
const MOST = { subscriptions: 1000, ofOne: 100, attempts: 5000 };

/** The name under which it is kept where the next call goes on. */
const NAME = "rescue deliveries";

/** How overdue an attempt is that nobody claimed before its message counts as lost: longer than the queue retries. */
const OVERDUE = sql`interval '1 hour'`;
/** How overdue an attempt is at least that was claimed and never ended. */
const ABANDONED = sql`interval '2 minutes'`;

/**
 * Has attempts made whose message was lost, and those whose holder is gone; returns how many. The queue is owed one message
 * for each of their subscriptions. It looks at the next 1,000 subscriptions that have something pending, behind those of the
 * call before: however much one of them has, or had when it was deleted, it is passed in one step.
 */
export async function rescueDeliveries(ctx: Context): Promise<number> {
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const isLost = sql`d.status = 'pending' and d.next_attempt_at < ${at} - ${ABANDONED}
    and (d.lease_expires_at < now() or (d.lease_token is null and d.next_attempt_at < ${at} - ${OVERDUE}))`;
  const isPending = sql`x.status = 'pending'`;
  const rescued = await write(ctx, {
    parts: sql`with recursive ${steppingOver("subscribed", webhook_deliveries.webhook_id, isPending, cursorOf(NAME), MOST.subscriptions)},
    looked as materialized (
      select d.* from subscribed s cross join lateral (select from ${webhooks} w where w.id = s.id limit 1) w
        cross join lateral (
        select d.* from ${webhook_deliveries} d
        where d.webhook_id = s.id and d.status = 'pending' and d.next_attempt_at < ${at} - ${ABANDONED}
        order by d.next_attempt_at, d.id limit ${MOST.ofOne}
      ) d order by s.id limit ${MOST.attempts}
    ), place as (${goOnBehind(
      NAME,
      sql`select case when (select count(*) from looked) = ${MOST.attempts}
          then (select webhook_id from looked order by webhook_id desc limit 1)
        else (select id from subscribed where n = ${MOST.subscriptions}) end`,
    )}
    ), lost as (
      select d.id from ${webhook_deliveries} d
      where d.id = any (array(select d.id from looked d where ${isLost})) and ${isLost} for update skip locked
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
