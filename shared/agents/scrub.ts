import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { FIRST_ID } from "../db/cursors.ts";
import { agents } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import type { AgentScrubResult } from "./schemas.ts";

/** Agents that one statement hides: while it does, whoever enters a board waits for it. */
const SIZE = 1000;

const Scrubbed = z.object({ names: z.array(z.string()), last: z.uuid() });

/**
 * Makes every public agent private whose name contains `pattern`, taken literally and in any case; returns their names,
 * the oldest agent first. It goes on from piece to piece: where one fails, those before it stay hidden.
 */
export async function scrubPublic(ctx: Context, pattern: string): Promise<z.output<typeof AgentScrubResult>> {
  const names: string[] = [];
  let last = FIRST_ID;
  for (;;) {
    const scrubbed = await scrubBehind(ctx, pattern, last);
    ctx.cache.invalidate("board");
    for (const name of scrubbed?.names ?? []) names.push(name);
    if (scrubbed === null || scrubbed.names.length < SIZE) return { updated: names.length, names };
    ({ last } = scrubbed);
  }
}

/** Hides the first agents behind the id `last`; null where there are none. */
function scrubBehind(ctx: Context, pattern: string, last: string): Promise<z.output<typeof Scrubbed> | null> {
  return write(ctx, {
    parts: sql`with found as (
      select id from ${agents} where is_public and strpos(lower(name), lower(${pattern})) > 0 and id > ${last}::uuid
      order by id limit ${SIZE} for no key update
    ), scrubbed as (
      update ${agents} set is_public = false, updated_at = now() where id = any (array(select id from found))
      returning id, name
    )`,
    select: sql`select jsonb_build_object('names', jsonb_agg(name order by id), 'last', max(id::text)) as result
      from scrubbed having count(*) > 0`,
    result: Scrubbed,
  });
}
