import { Buffer } from "node:buffer";
import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { log_checkpoints, log_entries, log_tiles } from "../db/schema/index.ts";
import { keyId } from "../evidence/did.ts";
import type { Context } from "../platform/context.ts";
import { append, EMPTY, type Grown, rootOf, type Tree } from "../tlog/append.ts";
import { HASH_BYTES } from "../tlog/hash.ts";
import { Hex } from "./checkpoint.ts";
import { logEntry, logged } from "./logged.ts";
import { keepPublished, lastPublished, type Published } from "./published.ts";

/** The most entries of one batch, and the most batches of one call. */
const BATCH = 1000;
const MAX_BATCHES = 20;

const State = z.object({
  head: z.object({ size: z.int(), root: Hex, edge: Hex }).nullable(),
  /** The root that the database has for the size that was published. */
  published: z.string().nullable(),
  waiting: z.array(z.object({ id: z.int(), leaf: Hex })),
});

/**
 * Gives the entries that wait their places in the log, in their order, and publishes the state after each batch; returns
 * how many. A batch takes two round trips: one reads, and one writes all of it, on the condition that the state which was
 * read is still the last. Of calls side by side one wins, and the others leave off; one that breaks off leaves nothing.
 * Throws, and places nothing, where the database lacks a state that was published: it was set back to a backup, and a log
 * that went on from there would have other entries at places that are taken. So it does where Redis does not answer: then
 * nobody can tell.
 */
export async function integrate(ctx: Context): Promise<number> {
  const published = await lastPublished(ctx);
  let placed = 0;
  let last = published;
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    const { count, state } = await integrateBatch(ctx, published);
    placed += count;
    last = state;
    if (count < BATCH) break;
  }
  if (last !== null && last.root !== published?.root) await keepPublished(ctx, last);
  return placed;
}

/** Places one batch; returns how many entries that were, and the state that is published now. */
async function integrateBatch(
  ctx: Context,
  published: Published | null,
): Promise<{ count: number; state: Published | null }> {
  const { head, waiting, published: found } = await readState(ctx, published);
  if (published !== null && published.root !== found) {
    throw new Error(
      `the database lacks the published state of ${published.size} entries; see "Restore a backup" in the guide to deploying`,
    );
  }
  const before = head === null ? EMPTY : { size: head.size, edge: pieces(head.edge) };
  if (head !== null && !rootOf(before).equals(head.root)) throw new Error("the log's edge does not lead to its root");
  if (waiting.length === 0) return { count: 0, state: head && stateOf(before) };
  const { tree, grown } = append(
    before,
    waiting.map(({ leaf }) => leaf),
  );
  const ids = waiting.map(({ id }) => id);
  const done = await write(ctx, { ...publishing(before, tree, grown, ids), result: z.int() });
  return done === null || done === 0 ? { count: 0, state: published } : { count: done, state: stateOf(tree) };
}

function stateOf(tree: Tree): Published {
  return { size: tree.size, root: rootOf(tree).toString("hex") };
}

/** Reads the last state and what waits. The keys that sign enter the log here, each the first time that it is met. */
async function readState(ctx: Context, published: Published | null): Promise<z.output<typeof State>> {
  const kids = (await ctx.keys()).all.map((key) => keyId(ctx.env.BASE_URL, key));
  const state = await write(ctx, {
    parts: sql`with said as (${logged(
      sql`select ${logEntry("key", { kid: sql`kid` })} from jsonb_array_elements_text(${JSON.stringify(kids)}::jsonb) kid`,
    )})`,
    select: sql`select jsonb_build_object(
      'head', (select jsonb_build_object('size', size, 'root', encode(root, 'hex'), 'edge', encode(edge, 'hex'))
        from ${log_checkpoints} order by size desc limit 1),
      'published', (select encode(root, 'hex') from ${log_checkpoints} where size = ${published?.size ?? null}::bigint),
      'waiting', (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'leaf', encode(leaf_hash, 'hex')) order by id), '[]')
        from (select id, leaf_hash from ${log_entries} where position is null order by id limit ${BATCH}) w))`,
    result: State,
  });
  if (state === null) throw new Error("the state of the log has no row");
  return state;
}

/**
 * SQL: publishes the next state with its entries and tiles; no row where another state follows the one that was read.
 * Sizes that are taken and predecessors that have a successor stop it, by the table's own constraints.
 */
function publishing(before: Tree, after: Tree, grown: readonly Grown[], ids: readonly number[]): Parts {
  const previous = before.size === 0 ? null : before.size;
  const edge = Buffer.concat(after.edge).toString("hex");
  const tiles = grown.map(({ hashes, ...tile }) => ({ ...tile, hashes: Buffer.concat(hashes).toString("hex") }));
  return {
    parts: sql`with next as (
      insert into ${log_checkpoints} (size, previous_size, root, edge)
      values (${after.size}::bigint, ${previous}::bigint, decode(${rootOf(after).toString("hex")}, 'hex'),
        decode(${edge}, 'hex'))
      on conflict do nothing returning size
    ), placed as (
      update ${log_entries} e set position = ${before.size}::bigint + i.number - 1
      from next, jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb) with ordinality i(id, number)
      where e.id = i.id::bigint returning e.id
    ), grown as (
      insert into ${log_tiles} as t (level, position, hashes)
      select g.level, g.index, decode(g.hashes, 'hex') from next,
        jsonb_to_recordset(${JSON.stringify(tiles)}::jsonb) as g(level integer, index bigint, start integer, hashes text)
      on conflict (level, position) do update set hashes = t.hashes || excluded.hashes
    )`,
    select: sql`select to_jsonb(count(*)) from placed`,
  };
}

interface Parts {
  parts: SQL;
  select: SQL;
}

function pieces(edge: Buffer): Buffer[] {
  return Array.from({ length: edge.length / HASH_BYTES }, (_, at) =>
    edge.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
  );
}
