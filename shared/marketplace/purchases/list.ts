import { sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../../db/change.ts";
import { pageResult } from "../../db/page-result.ts";
import { purchases } from "../../db/schema/index.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { PurchaseRead } from "../shown.ts";
import { purchaseJson } from "./view.ts";

const Purchases = pageResult(PurchaseRead);

/** A page of the caller's purchases in every state, newest first. */
export async function listPurchases(
  ctx: Context,
  principal: SessionPrincipal,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<z.output<typeof Purchases>> {
  const found = await read(
    ctx,
    Purchases,
    sql`with hits as (select p.* from ${purchases} p where p.buyer_id = ${principal.userId}::uuid),
    paged as (select * from hits p order by p.id desc limit ${size} offset ${(page - 1) * size})
    select jsonb_build_object('total', (select count(*) from hits),
      'items', coalesce((select jsonb_agg(${purchaseJson} order by p.id desc) from paged p), '[]')) as result`,
  );
  return found ?? { items: [], total: 0 };
}
