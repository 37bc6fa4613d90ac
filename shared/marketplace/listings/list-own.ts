import { sql } from "drizzle-orm";
import type * as z from "zod";
import { visibleAgent } from "../../agents/conditions.ts";
import { pageJson, shortParts } from "../../db/listing.ts";
import { pageResult, readPage } from "../../db/page-result.ts";
import { agents, listings, users } from "../../db/schema/index.ts";
import type { Principal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { Problem } from "../../platform/problem.ts";
import { ListingRead } from "../shown.ts";
import { listingJson } from "./view.ts";

const Listings = pageResult(ListingRead);

/**
 * A page of the caller's own listings that are not withdrawn, newest first: those that are off offer, too, as long as the
 * caller may see their agents. Throws `unauthenticated`, and `session_required` with a key.
 */
export async function listOwnListings(
  ctx: Context,
  principal: Principal,
  paging: { page: number; page_size: number },
): Promise<z.output<typeof Listings>> {
  if (principal.kind === "anonymous")
    throw new Problem("unauthenticated", "The filter mine needs an account; sign in to use it.");
  // The names of private agents are among them, for which a key would have to be asked for its scope.
  if (principal.kind !== "session")
    throw new Problem("session_required", "The filter mine needs a session; sign in to use it.");
  const seller = principal.userId;
  const hits = sql`select l.* from ${listings} l join ${agents} a on a.id = l.agent_id
    where l.seller_id = ${seller}::uuid and l.is_active and ${visibleAgent(seller)}`;
  const items = sql`(select json_agg(${listingJson(seller)} order by l.id desc) from paged l
    join ${agents} a on a.id = l.agent_id join ${users} u on u.id = l.seller_id)`;
  const found = await readPage(
    ctx,
    Listings,
    paging,
    (stretch) => sql`with ${shortParts(hits, "l", sql`l.id desc`, stretch)} select ${pageJson(items)} as result`,
  );
  return found ?? { items: [], total: 0 };
}
