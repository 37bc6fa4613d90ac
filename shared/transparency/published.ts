import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { log_checkpoints } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { Instant } from "../platform/time.ts";
import { readVerifierKey } from "./checkpoint.ts";

/** A state of the log that was published: how many entries it covers, and its root in hexadecimal. */
export interface Published {
  size: number;
  root: string;
}

/** As it is kept outside the database, with when that was, which is not known of those that were kept before it was noted. */
const Kept = z.object({ size: z.int(), root: z.string(), at: Instant.optional() });
type Kept = z.output<typeof Kept>;

/**
 * The newest published state that is known outside the database; null where none is. A database that was set back to a
 * backup has forgotten what it published since, and nothing within it can tell. To be read before the state in the
 * database is: then it is never ahead of it but after such a loss.
 */
export async function lastPublished(ctx: Context): Promise<Kept | null> {
  return Kept.nullable().parse(await ctx.redis.get(await keyOf(ctx)));
}

/**
 * SQL: whether the database may have forgotten what became of something that began at `began`: it was set back to a backup,
 * by which it lacks that state, and this began before the state was published. What has begun since the backup was
 * restored began after it, since nothing is published then.
 */
export function mayHaveForgotten(published: Kept | null, began: SQL): SQL<boolean> {
  if (published === null) return sql`false`;
  const { size, root, at = null } = published;
  return sql`(coalesce(${began} <= ${at}::timestamptz, true)
    and not exists (select from ${log_checkpoints} where size = ${size}::bigint and root = decode(${root}, 'hex')))`;
}

/** Keeps a published state for `lastPublished`. Of two at once the older may stay; the next call mends that. */
export async function keepPublished(ctx: Context, { size, root }: Published): Promise<void> {
  const state: Kept = { size, root, at: ctx.now().toISOString() };
  await ctx.redis.set(await keyOf(ctx), state);
}

/** One for each log: another key or address begins another. */
async function keyOf(ctx: Context): Promise<string> {
  return `log:${await readVerifierKey(ctx)}`;
}
