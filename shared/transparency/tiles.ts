import type { Buffer } from "node:buffer";
import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { log_checkpoints, log_entries, log_tiles } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { encodeBundle } from "../tlog/bundle.ts";
import { HASH_BYTES } from "../tlog/hash.ts";
import { parseTilePath, TILE_WIDTH, type Tile } from "../tlog/tile.ts";
import { Hex } from "./checkpoint.ts";

/**
 * The bytes of a tile of hashes or of a bundle of entries, by its path. A partial one stays readable after it grew.
 * Throws 404 for what the log does not have, or has not yet.
 */
export async function readTile(ctx: Context, path: string): Promise<Buffer> {
  const tile = parseTilePath(path);
  const bytes = tile === null ? null : await bytesOf(ctx, tile);
  if (bytes === null) throw notFound("tile");
  return bytes;
}

async function bytesOf(ctx: Context, { level, index, width }: Tile): Promise<Buffer | null> {
  if (level !== "entries") return read(ctx, Hex, hashesOf(level, index, width));
  const entries = await read(ctx, z.array(Hex), entriesOf(index * TILE_WIDTH, width));
  return entries === null ? null : encodeBundle(entries);
}

/** SQL: the first hashes of a tile; no row where it has fewer. */
function hashesOf(level: number, index: number, width: number): SQL {
  const length = width * HASH_BYTES;
  return sql`select to_jsonb(encode(substring(hashes for ${length}::integer), 'hex')) as result from ${log_tiles}
    where level = ${level} and position = ${index}::bigint and octet_length(hashes) >= ${length}::integer`;
}

/** SQL: so many entries from a place on; no row where the log has fewer. */
function entriesOf(start: number, count: number): SQL {
  const end = start + count;
  return sql`select jsonb_agg(encode(entry, 'hex') order by position) as result from ${log_entries}
    where position >= ${start}::bigint and position < ${end}::bigint
      and exists (select from ${log_checkpoints} where size >= ${end}::bigint)`;
}
