import { sql } from "drizzle-orm";
import { write } from "../db/change.ts";
import { webhook_deliveries, webhook_events, webhooks } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { postpone } from "./postpone.ts";
import { record } from "./record.ts";
import { type Attempt, Claimed, send } from "./send.ts";

/** How long an attempt belongs to its holder, in seconds: enough for the receiver to answer and for us to record it. */
export const LEASE_S = 60;

/**
 * Makes a pending attempt: claims it, sends it, records the outcome. Two statements. A second call does nothing; if we
 * fail halfway it throws, and the attempt is made again under the same id. If our own resolver fails, the attempt is
 * postponed.
 */
export async function deliver(ctx: Context, deliveryId: string): Promise<void> {
  const attempt = await claim(ctx, deliveryId);
  if (attempt === null) return;
  const outcome = await send(ctx, attempt);
  if (outcome === null) await postpone(ctx, attempt);
  else await record(ctx, attempt, outcome);
}

/** Claims a pending attempt that nobody holds; one to a subscription that has been turned off since ends here. */
async function claim(ctx: Context, deliveryId: string): Promise<Attempt | null> {
  const lease = newId(ctx.now());
  const attempt = await write(ctx, {
    parts: sql`with target as (
      select d.id, w.is_active from ${webhook_deliveries} d join ${webhooks} w on w.id = d.webhook_id
      where d.id = ${deliveryId}::uuid and d.status = 'pending' and (d.lease_token is null or d.lease_expires_at < now())
      for update of d
    ), claimed as (
      update ${webhook_deliveries} d set lease_token = ${lease}::uuid,
        lease_expires_at = now() + ${LEASE_S}::integer * interval '1 second'
      from target t where d.id = t.id and t.is_active returning d.*
    ), stopped as (
      update ${webhook_deliveries} d set status = 'exhausted', next_attempt_at = null,
        response_excerpt = 'Nothing was sent: the webhook was turned off before this attempt.'
      from target t where d.id = t.id and not t.is_active
    )`,
    select: sql`select jsonb_build_object('id', d.id, 'url', w.url, 'secret', w.secret, 'type', e.type, 'body', e.body)
      as result from claimed d join ${webhooks} w on w.id = d.webhook_id join ${webhook_events} e on e.id = d.event_id`,
    result: Claimed,
  });
  return attempt === null ? null : { ...attempt, lease };
}
