import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../../db/change.ts";
import { listings } from "../../db/schema/index.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";

/** Throws 404 for a listing that is not the caller's own. */
export async function assertSeller(ctx: Context, { userId }: SessionPrincipal, listingId: string): Promise<void> {
  const own = await read(
    ctx,
    z.literal(true),
    sql`select to_jsonb(true) as result from ${listings}
      where id = ${listingId}::uuid and seller_id = ${userId}::uuid`,
  );
  if (own === null) throw notFound("listing");
}
