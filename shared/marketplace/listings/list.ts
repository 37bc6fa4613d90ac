import { sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../../db/change.ts";
import { COUNTED, type Listing, pageParts, totalJson } from "../../db/listing.ts";
import { pageResult } from "../../db/page-result.ts";
import type { Context } from "../../platform/context.ts";
import { ListingRead } from "../schemas.ts";
import { listingJson, onOffer, onOfferInTurn } from "./view.ts";

const LISTING: Listing = {
  order: sql`id desc`,
  most: COUNTED.byRow,
  scans: (cut) => [sql`select l.id from ${onOfferInTurn} ${cut}`],
};

const Listings = pageResult(ListingRead);

/** A page of the listings that anybody may buy, newest first. */
export async function listListings(
  ctx: Context,
  paging: { page: number; page_size: number },
): Promise<z.output<typeof Listings>> {
  const found = await read(
    ctx,
    Listings,
    sql`with ${pageParts(LISTING, paging)}
    select ${totalJson} || jsonb_build_object('items', coalesce((select jsonb_agg(${listingJson} order by l.id desc)
      from ${onOffer} and l.id in (select id from paged)), '[]')) as result`,
  );
  return found ?? { items: [], total: 0 };
}
