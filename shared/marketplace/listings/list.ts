import { sql } from "drizzle-orm";
import type * as z from "zod";
import { COUNTED, type Listing, pageJson, pageParts, type Stretch } from "../../db/listing.ts";
import { pageResult, readPage } from "../../db/page-result.ts";
import { type NamedList, namedParts } from "../../db/names.ts";
import { agents } from "../../db/schema/index.ts";
import { type Principal, viewerId } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { ListingRead } from "../shown.ts";
import { listingJson, onOffer, onOfferInTurn } from "./view.ts";

const LISTING: Listing = {
  order: sql`id desc`,
  most: COUNTED.byRow,
  scans: (cut) => [sql`select l.id from ${onOfferInTurn} ${cut}`],
};

/** The listings whose title or agent has the name. One that is found by both is there once. */
function search(q: string): NamedList {
  const agentName = sql`(select a.name from ${agents} a where a.id = l.agent_id)`;
  return {
    q,
    order: LISTING.order,
    columns: sql`id`,
    inOrder: (cut, named) =>
      sql`select l.id, ${named(sql`l.title`)} or ${named(agentName)} as is_named from ${onOfferInTurn} ${cut}`,
    byName: (named) => sql`select l.id from ${onOfferInTurn} and ${named(sql`l.title`)}
      union select l.id from ${agents} g cross join lateral (
        select l.id from ${onOfferInTurn} and l.agent_id = g.id limit 1) l where ${named(sql`g.name`)}`,
  };
}

const Listings = pageResult(ListingRead);

/** A page of the listings that anybody may buy, newest first; with `q` of those that are called so. */
export async function listListings(
  ctx: Context,
  principal: Principal,
  { q, ...paging }: { q?: string | undefined; page: number; page_size: number },
): Promise<z.output<typeof Listings>> {
  const parts = (stretch: Stretch) => (q === undefined ? pageParts(LISTING, stretch) : namedParts(search(q), stretch));
  const items = sql`(select json_agg(${listingJson(viewerId(principal))} order by l.id desc)
    from ${onOffer} and l.id in (select id from paged))`;
  const found = await readPage(
    ctx,
    Listings,
    paging,
    (stretch) => sql`with ${parts(stretch)} select ${pageJson(items)} as result`,
  );
  return found ?? { items: [], total: 0 };
}
