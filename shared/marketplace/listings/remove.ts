import { sql } from "drizzle-orm";
import * as z from "zod";
import { ALWAYS, change } from "../../db/change.ts";
import { listings } from "../../db/schema/index.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";

/**
 * Takes one of the caller's listings off offer; purchases that have begun go on. Doing it again changes nothing. Throws
 * 404.
 */
export async function removeListing(ctx: Context, { userId }: SessionPrincipal, listingId: string): Promise<void> {
  await change(ctx, {
    parts: sql`with updated as (
      update ${listings} set is_active = false where id = ${listingId}::uuid and seller_id = ${userId}::uuid returning 1
    )`,
    result: sql`select jsonb_build_object('outcome', ${ALWAYS.sql}) as result from updated`,
    verdict: ALWAYS,
    done: z.object({}),
    refusals: { not_found: () => notFound("listing") },
  });
}
