import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { lockOwed, takeBack } from "../db/owed.ts";
import { webhook_deliveries, webhook_events, webhooks } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { DELIVERER, type DueMessage, oweMore } from "./messages.ts";
import { type Attempt, Claimed } from "./send.ts";

/** How long an attempt belongs to its holder, in seconds: enough for all of a batch to be sent and recorded. */
export const LEASE_S = 60;

/** How many attempts are claimed at once: with the longest bodies they are a third of what Neon returns at most. */
const BATCH_SIZE = 50;

/**
 * Claims the attempts of a subscription that are due and that nobody holds, at most 50, the longest due first; if it has
 * more, the queue is owed another message for them. Those of a subscription that has been turned off end here.
 */
export function claimDue(ctx: Context, { webhook_id, due }: z.output<typeof DueMessage>): Promise<Attempt[]> {
  const id = sql`${webhook_id}::uuid`;
  return claim(ctx, {
    // What was owed while this message stood for it has then been committed.
    lock: lockOwed(DELIVERER, id),
    parts: sql`message as (${takeBack([DELIVERER], id)} returning body), until as (
      select greatest(${ctx.now().toISOString()}::timestamptz, ${due}::timestamptz,
        (select (body ->> 'due')::timestamptz from message)) as due
    ), waiting as (
      select d.id, d.webhook_id from ${webhook_deliveries} d
      where d.webhook_id = ${id} and ${FREE} and d.next_attempt_at <= (select due from until)
      order by d.next_attempt_at, d.id limit ${BATCH_SIZE + 1}::integer for update skip locked
    ), target as (select * from waiting limit ${BATCH_SIZE}::integer),
    more as (${oweMore(
      newId(ctx.now()),
      sql`select ${id} as webhook_id, due from until where (select count(*) from waiting) > ${BATCH_SIZE}::integer`,
    )})`,
    owes: ["more"],
  });
}

/** Claims one attempt, whenever it is due, if nobody holds it; one to a subscription that is off ends here. */
export function claimOne(ctx: Context, deliveryId: string): Promise<Attempt[]> {
  return claim(ctx, {
    parts: sql`target as (
      select d.id, d.webhook_id from ${webhook_deliveries} d where d.id = ${deliveryId}::uuid and ${FREE} for update
    )`,
  });
}

/** SQL: whether the attempt row `d` can be claimed. */
const FREE: SQL = sql`d.status = 'pending' and (d.lease_token is null or d.lease_expires_at < now())`;

/** Claims the attempts of the part `target`. */
async function claim(
  ctx: Context,
  { lock, parts, owes }: { lock?: SQL; parts: SQL; owes?: ["more"] },
): Promise<Attempt[]> {
  const lease = newId(ctx.now());
  const claimed = await write(ctx, {
    ...(lock === undefined ? {} : { lock }),
    parts: sql`with ${parts}, claimed as (
      update ${webhook_deliveries} d set lease_token = ${lease}::uuid,
        lease_expires_at = now() + ${LEASE_S}::integer * interval '1 second'
      from target t join ${webhooks} w on w.id = t.webhook_id where d.id = t.id and w.is_active
      returning d.id, d.event_id, d.next_attempt_at, w.url, w.secret
    ), stopped as (
      update ${webhook_deliveries} d set status = 'exhausted', next_attempt_at = null,
        response_excerpt = 'Nothing was sent: the webhook was turned off before this attempt.'
      from target t join ${webhooks} w on w.id = t.webhook_id where d.id = t.id and not w.is_active
    )`,
    ...(owes === undefined ? {} : { owes }),
    select: sql`select jsonb_agg(jsonb_build_object('id', c.id, 'url', c.url, 'secret', c.secret, 'type', e.type,
      'body', e.body) order by c.next_attempt_at, c.id) as result from claimed c join ${webhook_events} e on e.id = c.event_id`,
    result: z.array(Claimed),
  });
  return (claimed ?? []).map((attempt) => ({ ...attempt, lease }));
}
