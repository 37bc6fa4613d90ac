import { sql } from "drizzle-orm";
import { webhook_deliveries, webhook_events, webhooks } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { postpone } from "./postpone.ts";
import { record } from "./record.ts";
import { type Attempt, send } from "./send.ts";

/** How long an attempt is its holder's, in seconds: the receiver's time, and that of recording what came. */
export const LEASE_S = 60;

/**
 * Makes a pending attempt: takes it up, sends it, records what came. Two statements. Coming a second time it does
 * nothing; a fault of ours in the middle throws, and the attempt is made again under the same id. So it is, later, where
 * our own resolver failed.
 */
export async function deliver(ctx: Context, deliveryId: string): Promise<void> {
  const attempt = await claim(ctx, deliveryId);
  if (attempt === null) return;
  const outcome = await send(ctx, attempt);
  if (outcome === null) await postpone(ctx, attempt);
  else await record(ctx, attempt, outcome);
}

/** Takes up a pending attempt that nobody holds; one to a subscription that was turned off since ends here. */
async function claim(ctx: Context, deliveryId: string): Promise<Attempt | null> {
  const lease = newId(ctx.now());
  const attempt = await readJson<Omit<Attempt, "lease">>(
    ctx,
    sql`with target as (
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
    )
    select jsonb_build_object('id', d.id, 'url', w.url, 'secret', w.secret, 'type', e.type, 'body', e.body) as result
    from claimed d join ${webhooks} w on w.id = d.webhook_id join ${webhook_events} e on e.id = d.event_id`,
  );
  return attempt === null ? null : { ...attempt, lease };
}
