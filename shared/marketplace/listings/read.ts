import { sql } from "drizzle-orm";
import type * as z from "zod";
import { visibleAgent } from "../../agents/conditions.ts";
import { read } from "../../db/change.ts";
import { agents, listings, seller_accounts, users } from "../../db/schema/index.ts";
import { type Principal, viewerId } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import { ListingRead } from "../shown.ts";
import { isSold, listingJson } from "./view.ts";

/**
 * One listing that anybody may buy, or, for its seller in a session, one that is off offer, as long as the seller may see
 * its agent. Throws 404.
 */
export async function readListing(
  ctx: Context,
  principal: Principal,
  listingId: string,
): Promise<z.output<typeof ListingRead>> {
  // The name of a private agent is among it: an API key would have to be asked for its scope.
  const seller = principal.kind === "session" ? principal.userId : null;
  const listing = await read(
    ctx,
    ListingRead,
    sql`select ${listingJson(viewerId(principal))} as result
      from ${listings} l join ${agents} a on a.id = l.agent_id join ${users} u on u.id = l.seller_id
        left join ${seller_accounts} s on s.user_id = l.seller_id
      where l.id = ${listingId}::uuid and (${isSold} or l.seller_id = ${seller}::uuid and ${visibleAgent(seller)})`,
  );
  if (listing === null) throw notFound("listing");
  return listing;
}
