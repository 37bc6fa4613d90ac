import { sql } from "drizzle-orm";
import { readJson } from "../../db/statement.ts";
import type { Context } from "../../platform/context.ts";
import { listingJson, type ListingRow, onOffer } from "./view.ts";

/** A page of what anybody may buy, newest first. */
export async function listListings(
  ctx: Context,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<{ items: ListingRow[]; total: number }> {
  const result = await readJson<{ items: ListingRow[]; total: number }>(
    ctx,
    sql`with hits as (select l.id, ${listingJson} as shown from ${onOffer}),
    paged as (select * from hits order by id desc limit ${size} offset ${(page - 1) * size})
    select jsonb_build_object('total', (select count(*) from hits),
      'items', coalesce((select jsonb_agg(shown order by id desc) from paged), '[]')) as result`,
  );
  return result ?? { items: [], total: 0 };
}
