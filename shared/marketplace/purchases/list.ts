import { sql } from "drizzle-orm";
import type * as z from "zod";
import { pageJson, shortParts } from "../../db/listing.ts";
import { pageResult, readPage } from "../../db/page-result.ts";
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
  paging: { page: number; page_size: number },
): Promise<z.output<typeof Purchases>> {
  const hits = sql`select p.* from ${purchases} p where p.buyer_id = ${principal.userId}::uuid`;
  const items = sql`(select json_agg(${purchaseJson} order by p.id desc) from paged p)`;
  const found = await readPage(ctx, Purchases, paging, (stretch) => {
    const parts = shortParts(hits, "p", sql`p.id desc`, stretch);
    return sql`with ${parts} select ${pageJson(items)} as result`;
  });
  return found ?? { items: [], total: 0 };
}
