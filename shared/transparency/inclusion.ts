import { Buffer } from "node:buffer";
import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { log_checkpoints, log_entries, log_tiles } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { inclusionProof, proofText } from "../tlog/proof.ts";
import { Hex, signCheckpoint } from "./checkpoint.ts";
import { type EntryKind, logEntry } from "./logged.ts";

/** What the database knows of an entry's place: the last state of the log, and the tiles that a proof in it needs. */
export const Found = z.object({
  index: z.int(),
  size: z.int(),
  root: Hex,
  tiles: z.array(z.object({ level: z.int(), index: z.int(), hashes: Hex })),
});
export type Found = z.output<typeof Found>;

/** The most levels of tiles that a log has whose size is a number of JavaScript. */
const LEVELS = 7;

/**
 * SQL: what `Found` reads of the entry that `logEntry` makes of these: a JSON object, null while the entry has no place.
 * Of each level it takes the tile that the entry is under, and the last one.
 */
export function findEntry(kind: EntryKind, members: Readonly<Record<string, SQL>>): SQL {
  const under = (place: SQL): SQL => sql`${place} >> (8 * (g.level + 1))`;
  return sql`(select jsonb_build_object('index', l.position, 'size', h.size, 'root', encode(h.root, 'hex'),
      'tiles', (select coalesce(jsonb_agg(jsonb_build_object('level', t.level, 'index', t.position,
          'hashes', encode(t.hashes, 'hex'))), '[]')
        from generate_series(0, ${LEVELS - 1}::integer) g(level) join ${log_tiles} t
          on t.level = g.level and t.position in (${under(sql`l.position`)}, ${under(sql`h.size`)})))
    from ${log_entries} l cross join (
      select size, root from ${log_checkpoints} order by size desc limit 1) h
    where l.leaf_hash = sha256('\\x00'::bytea || convert_to(${logEntry(kind, members)}, 'UTF8')) and l.position < h.size)`;
}

/** The place of an entry, and the text by which anybody checks offline that it is there (C2SP tlog-proof). */
export interface Inclusion {
  index: number;
  proof: string;
}

/**
 * The proof that an entry is in the last state of the log. `extra` is sent along in it: bytes that the entry is a digest of,
 * so that the text needs nothing beside it.
 */
export async function inclusionOf(ctx: Context, found: Found, extra?: Buffer): Promise<Inclusion> {
  const { index, size, tiles } = found;
  const hashes = inclusionProof(
    index,
    size,
    (level, at) => tiles.find((tile) => tile.level === level && tile.index === at)?.hashes ?? Buffer.alloc(0),
  );
  return { index, proof: proofText(index, hashes, await signCheckpoint(ctx, found), extra) };
}
