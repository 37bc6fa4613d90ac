import { sql } from "drizzle-orm";
import { purchases } from "../../db/schema/index.ts";
import { readJson } from "../../db/statement.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { purchaseJson, type PurchaseRow } from "./view.ts";

/** A page of what the caller has bought or begun to buy, newest first. */
export async function listPurchases(
  ctx: Context,
  principal: SessionPrincipal,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<{ items: PurchaseRow[]; total: number }> {
  const result = await readJson<{ items: PurchaseRow[]; total: number }>(
    ctx,
    sql`with hits as (select p.* from ${purchases} p where p.buyer_id = ${principal.userId}::uuid),
    paged as (select * from hits p order by p.id desc limit ${size} offset ${(page - 1) * size})
    select jsonb_build_object('total', (select count(*) from hits),
      'items', coalesce((select jsonb_agg(${purchaseJson} order by p.id desc) from paged p), '[]')) as result`,
  );
  return result ?? { items: [], total: 0 };
}
