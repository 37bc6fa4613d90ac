import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { agents } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import type { AgentScrubResult } from "./schemas.ts";

/**
 * Makes every public agent private whose name contains `pattern`, taken literally and in any case; returns their names,
 * the oldest agent first.
 */
export async function scrubPublic(ctx: Context, pattern: string): Promise<z.output<typeof AgentScrubResult>> {
  const names = await write(ctx, {
    parts: sql`with scrubbed as (
      update ${agents} set is_public = false, updated_at = now()
      where is_public and strpos(lower(name), lower(${pattern})) > 0 returning id, name
    )`,
    select: sql`select coalesce(jsonb_agg(name order by id), '[]') as result from scrubbed`,
    result: z.array(z.string()),
  });
  ctx.cache.invalidate("board");
  return { updated: names?.length ?? 0, names: names ?? [] };
}
