import { sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../../db/change.ts";
import { pageResult } from "../../db/page-result.ts";
import type { Context } from "../../platform/context.ts";
import { ListingRead } from "../schemas.ts";
import { listingJson, onOffer } from "./view.ts";

const Listings = pageResult(ListingRead);

/** A page of the listings that anybody may buy, newest first. */
export async function listListings(
  ctx: Context,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<z.output<typeof Listings>> {
  const found = await read(
    ctx,
    Listings,
    sql`with hits as (select l.id, ${listingJson} as item from ${onOffer}),
    paged as (select * from hits order by id desc limit ${size} offset ${(page - 1) * size})
    select jsonb_build_object('total', (select count(*) from hits),
      'items', coalesce((select jsonb_agg(item order by id desc) from paged), '[]')) as result`,
  );
  return found ?? { items: [], total: 0 };
}
