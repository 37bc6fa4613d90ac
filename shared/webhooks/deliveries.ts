import { sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../db/change.ts";
import { pageResult } from "../db/page-result.ts";
import { webhook_deliveries, webhook_events } from "../db/schema/index.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { DeliveryRead } from "./schemas.ts";
import { deliveryJson, visibleWebhook } from "./view.ts";

const Deliveries = pageResult(DeliveryRead);

/** A page of a subscription's log: every attempt of the last 30 days, newest first. Throws 404. */
export async function listDeliveries(
  ctx: Context,
  principal: SessionPrincipal,
  webhookId: string,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<z.output<typeof Deliveries>> {
  const found = await read(
    ctx,
    Deliveries,
    sql`with target as (${visibleWebhook(principal.userId, webhookId)}), paged as (
      select d.* from ${webhook_deliveries} d where d.webhook_id = (select id from target)
      order by d.id desc limit ${size} offset ${(page - 1) * size}
    )
    select jsonb_build_object(
      'total', (select count(*) from ${webhook_deliveries} d where d.webhook_id = t.id),
      'items', coalesce((select jsonb_agg(${deliveryJson} order by d.id desc)
        from paged d join ${webhook_events} e on e.id = d.event_id), '[]')) as result from target t`,
  );
  if (found === null) throw notFound("webhook");
  return found;
}
