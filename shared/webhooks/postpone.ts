import { sql } from "drizzle-orm";
import { webhook_deliveries, webhook_events } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { flush } from "../db/outbox.ts";
import { owed } from "../db/owed.ts";
import type { Message } from "../platform/message.ts";
import { oweAttempts } from "./messages.ts";
import { type Attempt, UNSENT } from "./send.ts";

/**
 * Between two tries to send an attempt, in seconds: a quarter of the event's age within these bounds, so that a name
 * whose own servers are broken for good costs less and less.
 */
const WAIT_S = { least: 60, most: 3600 };
/** Days after the event until when it is tried. */
const PATIENCE_DAYS = 3;

/**
 * Puts an attempt off that our own fault kept from being sent, in one statement. It is neither a failure nor one attempt
 * less, and counts nothing against the receiver. Three days after its event it is given up; it can be redelivered then.
 * Does nothing where the attempt is not the holder's any more.
 */
export async function postpone(ctx: Context, attempt: Attempt): Promise<void> {
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const messages = await readJson<Message[]>(
    ctx,
    sql`with held as (
      select d.id, ${at} - e.created_at as age from ${webhook_deliveries} d
        join ${webhook_events} e on e.id = d.event_id
      where d.id = ${attempt.id}::uuid and d.lease_token = ${attempt.lease}::uuid and d.status = 'pending'
    ), given_up as (
      update ${webhook_deliveries} d set status = 'exhausted', lease_token = null, lease_expires_at = null,
        next_attempt_at = null, response_excerpt = ${UNSENT}
      from held h where d.id = h.id and h.age > ${PATIENCE_DAYS}::integer * interval '1 day'
    ), put_off as (
      update ${webhook_deliveries} d set lease_token = null, lease_expires_at = null, next_attempt_at = ${at}
        + least(greatest(h.age / 4, ${WAIT_S.least}::integer * interval '1 second'), ${WAIT_S.most}::integer * interval '1 second')
      from held h where d.id = h.id and h.age <= ${PATIENCE_DAYS}::integer * interval '1 day'
      returning d.id, d.webhook_id, d.next_attempt_at
    ), messages as (${oweAttempts(ctx, sql`select id, webhook_id, next_attempt_at as due from put_off`)})
    select ${owed("messages")} as result`,
  );
  ctx.defer(() => flush(ctx, messages ?? []));
}
