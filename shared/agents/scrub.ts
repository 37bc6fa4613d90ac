import { sql } from "drizzle-orm";
import type * as z from "zod";
import { agents } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import type { AgentScrubResult } from "./schemas.ts";

/** Makes every public agent private whose name contains `pattern` in any case, taken literally. Oldest first. */
export async function scrubPublic(ctx: Context, pattern: string): Promise<z.output<typeof AgentScrubResult>> {
  const names = await readJson<string[]>(
    ctx,
    sql`with scrubbed as (
      update ${agents} set is_public = false, updated_at = now()
      where is_public and strpos(lower(name), lower(${pattern})) > 0 returning id, name
    )
    select coalesce(jsonb_agg(name order by id), '[]') as result from scrubbed`,
  );
  ctx.cache.invalidate("board");
  return { updated: names?.length ?? 0, names: names ?? [] };
}
