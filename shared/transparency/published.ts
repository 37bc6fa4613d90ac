import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { log_checkpoints } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { readVerifierKey } from "./checkpoint.ts";

const Published = z.object({ size: z.int(), root: z.string() });

/** A state of the log that was published: how many entries it covers, and its root in hexadecimal. */
export type Published = z.output<typeof Published>;

/**
 * The newest published state that is known outside the database; null where none is. A database that was set back to a
 * backup has forgotten what it published since, and nothing within it can tell. To be read before the state in the
 * database is: then it is never ahead of it but after such a loss.
 */
export async function lastPublished(ctx: Context): Promise<Published | null> {
  return Published.nullable().parse(await ctx.redis.get(await keyOf(ctx)));
}

/** SQL: whether the database lacks that state: it was set back to a backup. */
export function lacks(published: Published | null): SQL<boolean> {
  if (published === null) return sql`false`;
  const { size, root } = published;
  return sql`not exists (select from ${log_checkpoints} where size = ${size}::bigint and root = decode(${root}, 'hex'))`;
}

/** Keeps a published state for `lastPublished`. Of two at once the older may stay; the next call mends that. */
export async function keepPublished(ctx: Context, state: Published): Promise<void> {
  await ctx.redis.set(await keyOf(ctx), state);
}

/** One for each log: another key or address begins another. */
async function keyOf(ctx: Context): Promise<string> {
  return `log:${await readVerifierKey(ctx)}`;
}
