import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { pageJson } from "../../db/listing.ts";
import { pageResult, readPage } from "../../db/page-result.ts";
import { listings, purchases, revenue } from "../../db/schema/index.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { SaleRead, SaleSums } from "../shown.ts";

const Sales = pageResult(SaleRead).extend({ sums: SaleSums });

const NEWEST = sql`v.realised_at desc, v.purchase_id desc`;

/** SQL: the JSON of the row `v` of `revenue`, its purchase row `p`, and its listing's row `l` where there still is one. */
const saleJson: SQL = sql`json_build_object('id', v.purchase_id, 'listing_id', l.id, 'title', l.title,
  'agent_name', p.agent_name, 'price_usd', v.gross_usd, 'refunded_usd', v.refunded_usd,
  'fee_usd', v.fee_usd, 'earned_usd', v.net_usd, 'completed_at', v.realised_at)`;

const sums: SQL = sql`json_build_object('price_usd', coalesce(sum(v.gross_usd), 0),
  'refunded_usd', coalesce(sum(v.refunded_usd), 0), 'fee_usd', coalesce(sum(v.fee_usd), 0),
  'earned_usd', coalesce(sum(v.net_usd), 0))`;

/** A page of what the caller sold, the last paid first, and the sums of all of it, for which all has to be looked at. */
export async function listSales(
  ctx: Context,
  { userId }: SessionPrincipal,
  paging: { page: number; page_size: number },
): Promise<z.output<typeof Sales>> {
  const own = sql`${revenue} v where v.seller_id = ${userId}::uuid`;
  const items = sql`(select json_agg(${saleJson} order by ${NEWEST}) from paged v
    join ${purchases} p on p.id = v.purchase_id left join ${listings} l on l.id = p.listing_id)`;
  const found = await readPage(
    ctx,
    Sales,
    paging,
    ({ size, offset }) => sql`with counted as materialized (
      select count(*) as n, null::bigint as most, ${sums} as sums from ${own}
    ), paged as (select v.* from ${own} order by ${NEWEST} limit ${size} offset ${offset})
    select ${pageJson(items, { sums: sql`sums` })} as result`,
  );
  return found ?? { items: [], total: 0, sums: { price_usd: 0, refunded_usd: 0, fee_usd: 0, earned_usd: 0 } };
}
