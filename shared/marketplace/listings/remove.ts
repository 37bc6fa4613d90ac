import { sql } from "drizzle-orm";
import { listings } from "../../db/schema/index.ts";
import { readJson } from "../../db/statement.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";

/** Takes an own listing off offer; purchases that are begun go on. Doing it again changes nothing. Throws 404. */
export async function removeListing(ctx: Context, principal: SessionPrincipal, listingId: string): Promise<void> {
  const removed = await readJson<boolean>(
    ctx,
    sql`update ${listings} set is_active = false where id = ${listingId}::uuid and seller_id = ${principal.userId}::uuid
      returning to_jsonb(true) as result`,
  );
  if (removed === null) throw notFound("listing");
}
