import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { COUNTED, type Listing, pageJson, pageParts, sliceJson, sliceParts } from "../db/listing.ts";
import { pageResult, readPage, RowSlice } from "../db/page-result.ts";
import { type DELIVERY_STATES, webhook_deliveries, webhook_events } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { DeliveryRead } from "./shown.ts";
import { deliveryJson, visibleWebhook } from "./view.ts";

/** The attempts of the subscription of the part `target`, those with one status where that is asked for. */
function listing(status: DeliveryFilter["status"], after: z.output<typeof DeliveryKey> | null = null): Listing {
  const older = after === null ? sql`` : sql`and d.id < ${after.id}::uuid`;
  const narrowed = status === undefined ? sql`` : sql`and d.status = ${status}`;
  return {
    order: sql`id desc`,
    most: COUNTED.byIndex,
    scans: (cut) => [
      sql`select d.id from ${webhook_deliveries} d where d.webhook_id = (select id from target) ${narrowed} ${older} ${cut}`,
    ],
  };
}

/** What a log is narrowed to. */
export interface DeliveryFilter {
  status?: (typeof DELIVERY_STATES)[number] | undefined;
}

/** The keys by which a log is read on. */
export const DeliveryKey = z.object({ id: z.uuid() });

const Deliveries = pageResult(DeliveryRead);

/** A page of a subscription's log: every attempt of the last 30 days, newest first. Throws 404. */
export async function listDeliveries(
  ctx: Context,
  principal: UserPrincipal,
  webhookId: string,
  filter: DeliveryFilter & { page: number; page_size: number },
): Promise<z.output<typeof Deliveries>> {
  const target = visibleWebhook(principal.userId, webhookId);
  const found = await readPage(ctx, Deliveries, filter, (stretch) =>
    statement(target, pageParts(listing(filter.status), stretch), pageJson),
  );
  if (found === null) throw notFound("webhook");
  return found;
}

/** A slice of the same log, from behind an attempt on, or from the newest one (null). Throws 404. */
export async function sliceDeliveries(
  ctx: Context,
  principal: UserPrincipal,
  webhookId: string,
  { status, after, size }: DeliveryFilter & { after: z.output<typeof DeliveryKey> | null; size: number },
): Promise<RowSlice> {
  const target = visibleWebhook(principal.userId, webhookId);
  const list = listing(status, after);
  const found = await read(ctx, RowSlice, statement(target, sliceParts(list, size), sliceJson(list)));
  if (found === null) throw notFound("webhook");
  return found;
}

function statement(target: SQL, parts: SQL, listJson: (items: SQL) => SQL): SQL {
  const items = sql`(select json_agg(${deliveryJson} order by d.id desc)
    from paged p join ${webhook_deliveries} d on d.id = p.id join ${webhook_events} e on e.id = d.event_id)`;
  return sql`with target as (${target}), ${parts} select ${listJson(items)} as result from target t`;
}
