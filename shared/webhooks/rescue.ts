import { sql } from "drizzle-orm";
import { webhook_deliveries } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { flush } from "../db/outbox.ts";
import { owed } from "../db/owed.ts";
import type { Message } from "../platform/message.ts";
import { oweAttempts } from "./messages.ts";

/** Most attempts of one time. */
const PIECE = 500;

/** How long after its time an attempt that nobody took up is looked after: longer than the queue goes on trying. */
const OVERDUE = sql`interval '1 hour'`;
/** How long after its time one may be lost that was taken up and not ended. */
const ABANDONED = sql`interval '2 minutes'`;

/**
 * Owes the queue a new message for attempts whose message was lost, and for those whose holder is gone, at most 500 a
 * call; returns how many.
 */
export async function rescueDeliveries(ctx: Context): Promise<number> {
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const messages = await readJson<Message[]>(
    ctx,
    sql`with lost as (
      select d.id from ${webhook_deliveries} d
      where d.status = 'pending' and d.next_attempt_at < ${at} - ${ABANDONED}
        and (d.lease_expires_at < now() or (d.lease_token is null and d.next_attempt_at < ${at} - ${OVERDUE}))
      order by d.next_attempt_at limit ${PIECE} for update skip locked
    ), freed as (
      update ${webhook_deliveries} d set next_attempt_at = ${at}, lease_token = null, lease_expires_at = null
      from lost l where d.id = l.id returning d.id, d.webhook_id
    ), messages as (${oweAttempts(ctx, sql`select id, webhook_id, null::timestamptz as due from freed`)})
    select ${owed("messages")} as result`,
  );
  ctx.defer(() => flush(ctx, messages ?? []));
  return messages?.length ?? 0;
}
