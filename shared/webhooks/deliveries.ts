import { sql } from "drizzle-orm";
import { webhook_deliveries, webhook_events } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { deliveryJson, type DeliveryRow, visibleWebhook } from "./view.ts";

/** A page of the log of a subscription: every attempt of the last 30 days, newest first. Throws 404. */
export async function listDeliveries(
  ctx: Context,
  principal: SessionPrincipal,
  webhookId: string,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<{ items: DeliveryRow[]; total: number }> {
  const result = await readJson<{ items: DeliveryRow[]; total: number }>(
    ctx,
    sql`with target as (${visibleWebhook(principal.userId, webhookId)}), paged as (
      select d.* from ${webhook_deliveries} d where d.webhook_id = (select id from target)
      order by d.id desc limit ${size} offset ${(page - 1) * size}
    )
    select jsonb_build_object(
      'total', (select count(*) from ${webhook_deliveries} d where d.webhook_id = t.id),
      'items', coalesce((select jsonb_agg(${deliveryJson} order by d.id desc)
        from paged d join ${webhook_events} e on e.id = d.event_id), '[]')) as result from target t`,
  );
  if (result === null) throw notFound("webhook");
  return result;
}
