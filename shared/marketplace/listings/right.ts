import { sql } from "drizzle-orm";
import { listings } from "../../db/schema/index.ts";
import { readJson } from "../../db/statement.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";

/** Throws 404 for a listing that is not the caller's own. */
export async function assertSeller(ctx: Context, { userId }: SessionPrincipal, listingId: string): Promise<void> {
  const own = await readJson<boolean>(
    ctx,
    sql`select to_jsonb(true) as result from ${listings}
      where id = ${listingId}::uuid and seller_id = ${userId}::uuid`,
  );
  if (own === null) throw notFound("listing");
}
