import { sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../db/change.ts";
import { COUNTED, type Listing, pageParts, totalJson } from "../db/listing.ts";
import { pageResult } from "../db/page-result.ts";
import { type DELIVERY_STATES, webhook_deliveries, webhook_events } from "../db/schema/index.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { DeliveryRead } from "./schemas.ts";
import { deliveryJson, visibleWebhook } from "./view.ts";

/** The attempts of the subscription of the part `target`, those with one status where that is asked for. */
function listing(status: DeliveryFilter["status"]): Listing {
  const narrowed = status === undefined ? sql`` : sql`and d.status = ${status}`;
  return {
    order: sql`id desc`,
    most: COUNTED.byIndex,
    scans: (cut) => [
      sql`select d.id from ${webhook_deliveries} d where d.webhook_id = (select id from target) ${narrowed} ${cut}`,
    ],
  };
}

/** What a log is narrowed to. */
export interface DeliveryFilter {
  status?: (typeof DELIVERY_STATES)[number] | undefined;
  page: number;
  page_size: number;
}

const Deliveries = pageResult(DeliveryRead);

/** A page of a subscription's log: every attempt of the last 30 days, newest first. Throws 404. */
export async function listDeliveries(
  ctx: Context,
  principal: SessionPrincipal,
  webhookId: string,
  filter: DeliveryFilter,
): Promise<z.output<typeof Deliveries>> {
  const found = await read(
    ctx,
    Deliveries,
    sql`with target as (${visibleWebhook(principal.userId, webhookId)}), ${pageParts(listing(filter.status), filter)}
    select ${totalJson} || jsonb_build_object(
      'items', coalesce((select jsonb_agg(${deliveryJson} order by d.id desc)
        from paged p join ${webhook_deliveries} d on d.id = p.id join ${webhook_events} e on e.id = d.event_id), '[]')) as result from target t`,
  );
  if (found === null) throw notFound("webhook");
  return found;
}
