import { sql } from "drizzle-orm";
import { webhook_deliveries, webhook_events, webhooks } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { flush } from "../db/outbox.ts";
import { owed } from "../db/owed.ts";
import type { Message } from "../platform/message.ts";
import { oweAttempts } from "./messages.ts";
import { assertAllowed, deliveryJson, type DeliveryRow, visibleWebhook, webhookInactive } from "./view.ts";

interface Outcome {
  allowed: boolean | null;
  is_active: boolean | null;
  delivery: DeliveryRow | null;
  messages: Message[];
}

/**
 * Makes one more attempt to deliver the event of a delivery, now, whatever came of those before; where the event waits
 * for its next attempt, that one is made now. Throws 404, 403, `webhook_inactive`.
 */
export async function redeliver(
  ctx: Context,
  principal: SessionPrincipal,
  webhookId: string,
  deliveryId: string,
): Promise<DeliveryRow> {
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const ctes = sql`with target as (${visibleWebhook(principal.userId, webhookId)}), latest as (
    select d.*, t.allowed and t.is_active as goes_out from target t
      join ${webhook_deliveries} asked on asked.webhook_id = t.id and asked.id = ${deliveryId}::uuid
      join ${webhook_deliveries} d on d.webhook_id = t.id and d.event_id = asked.event_id
    order by d.attempt desc limit 1
  ), hastened as (
    update ${webhook_deliveries} d set next_attempt_at = ${at} from latest l
    where d.id = l.id and l.goes_out and d.status = 'pending' returning d.*
  ), made as (
    insert into ${webhook_deliveries} as w (webhook_id, event_id, attempt, next_attempt_at)
    select webhook_id, event_id, attempt + 1, ${at} from latest where goes_out and not exists (select from hastened)
    on conflict (webhook_id, event_id, attempt) do update set next_attempt_at = excluded.next_attempt_at
      where w.status = 'pending' returning *
  ), d as (select * from hastened union all select * from made),
  messages as (${oweAttempts(ctx, sql`select id, webhook_id, null::timestamptz as due from d`)})`;
  const result = sql`select jsonb_build_object('allowed', (select allowed from target),
    'is_active', (select is_active from target), 'messages', ${owed("messages")}, 'delivery',
    (select ${deliveryJson} from d join ${webhook_events} e on e.id = d.event_id)) as result`;
  // Redeliveries to one subscription take turns, so that no two make the same attempt. An attempt that ends meanwhile is
  // not hastened any more, and may have made the next one itself: that one is hastened.
  const lock = sql`select from ${webhooks} where id = ${webhookId}::uuid for no key update`;
  const outcome = await writeJson<Outcome>(ctx, ctes, result, lock);
  assertAllowed(outcome.allowed);
  if (outcome.is_active === false) throw webhookInactive();
  if (outcome.delivery === null) throw notFound("delivery");
  ctx.defer(() => flush(ctx, outcome.messages));
  return outcome.delivery;
}
