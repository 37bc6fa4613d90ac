import { sql } from "drizzle-orm";
import * as z from "zod";
import { change } from "../db/change.ts";
import { webhook_deliveries, webhook_events } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { wake } from "./messages.ts";
import { DeliveryRead } from "./shown.ts";
import { deliveryJson, lockWebhook, noWebhook, notAllowed, SENDING, visibleWebhook, webhookInactive } from "./view.ts";

/** Only the result knows whether there was a delivery to repeat. */
const REDELIVERY = { sql: SENDING.sql, cases: [...SENDING.cases, "no_delivery"] } as const;

/**
 * Makes one more attempt to deliver the event of a delivery, now, whatever the outcome of those before; if the event
 * waits for its next attempt, that one is made now. Throws 404, 403, `webhook_inactive`.
 */
export async function redeliver(
  ctx: Context,
  principal: UserPrincipal,
  webhookId: string,
  deliveryId: string,
): Promise<z.output<typeof DeliveryRead>> {
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const { delivery } = await change(ctx, {
    // Redeliveries to one subscription take turns, so that no two make the same attempt. An attempt that ends meanwhile
    // cannot be moved forward any more, and may have made the next one itself: then that one is.
    lock: lockWebhook(webhookId),
    parts: sql`with target as (
      select t.id, ${REDELIVERY.sql} as outcome from (${visibleWebhook(principal.userId, webhookId)}) t
    ), latest as (
      select d.*, t.outcome = 'done' as allowed from target t
        join ${webhook_deliveries} requested on requested.webhook_id = t.id and requested.id = ${deliveryId}::uuid
        join ${webhook_deliveries} d on d.webhook_id = t.id and d.event_id = requested.event_id
      order by d.attempt desc limit 1
    ), rescheduled as (
      update ${webhook_deliveries} d set next_attempt_at = ${at} from latest l
      where d.id = l.id and l.allowed and d.status = 'pending' returning d.*
    ), inserted as (
      insert into ${webhook_deliveries} as w (webhook_id, event_id, attempt, next_attempt_at)
      select webhook_id, event_id, attempt + 1, ${at} from latest where allowed and not exists (select from rescheduled)
      on conflict (webhook_id, event_id, attempt) do update set next_attempt_at = excluded.next_attempt_at
        where w.status = 'pending' returning *
    ), d as (select * from rescheduled union all select * from inserted),
    ${wake("messages", sql`select webhook_id, next_attempt_at as due from d`)}`,
    hands: ["messages"],
    result: sql`select jsonb_build_object(
      'outcome', case when t.outcome = 'done' and not exists (select from d) then 'no_delivery' else t.outcome end,
      'delivery', (select ${deliveryJson} from d join ${webhook_events} e on e.id = d.event_id)) as result from target t`,
    verdict: REDELIVERY,
    done: z.object({ delivery: DeliveryRead }),
    refusals: {
      not_found: noWebhook,
      forbidden: notAllowed,
      inactive: webhookInactive,
      no_delivery: () => notFound("delivery"),
    },
  });
  return delivery;
}
