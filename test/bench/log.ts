import { Buffer } from "node:buffer";
import type { Pool } from "pg";
import type { Context } from "../../shared/platform/context.ts";
import { append, rootOf } from "../../shared/tlog/append.ts";
import { HASH_BYTES, leafHash } from "../../shared/tlog/hash.ts";
import { integrate } from "../../shared/transparency/integrate.ts";
import { inBulk } from "../stack/bulk.ts";
import type { Caller } from "../stack/client.ts";
import { type Figure, type Measured, measured, median, time } from "./measure.ts";

const SMALL = 1000;
const LARGE = 1_000_000;
/** As many as the service places at once. */
const BATCH = 1000;
const ROUNDS = 9;
/** Tiles of one statement: 3 MB as text. */
const TILES = 200;

/** What the lines stand on: a context beside the service, its database and its console, and a read to compare with. */
export interface Beside {
  ctx: Context;
  pool: Pool;
  console: Caller;
  byKey(): Promise<unknown>;
}

/**
 * What appending a batch of 1,000 entries to the log takes: the database's requests, how much longer it takes in a log of a
 * million than in one of a thousand, each compared with a read by key in turn with it, and the full tiles that it touches.
 */
export async function logFigures(beside: Beside): Promise<Figure[]> {
  const small = await batches(beside, SMALL);
  const large = await batches(beside, LARGE);
  const grown = { value: large.time.value / small.time.value, spread: { min: 0, max: 0 } };
  grown.spread = { min: large.time.spread.min / small.time.value, max: large.time.spread.max / small.time.value };
  const most = { unit: "requests", kind: "most" } as const;
  return [
    { name: `appending ${BATCH} entries to a log of 1M / to one of 1k`, ...grown, unit: "×", kind: "most", budget: 2 },
    { name: `database requests of a batch of ${BATCH} entries of the log`, ...large.requests, ...most, budget: 2 },
    { name: "writes to full tiles of the log", value: large.rewritten, ...most, budget: 0 },
  ];
}

async function batches(
  { ctx, pool, console, byKey }: Beside,
  size: number,
): Promise<{ time: Measured; requests: Measured; rewritten: number }> {
  await integrate(ctx);
  await fill(pool, size);
  const full = await fullTiles(pool);
  const requests: number[] = [];
  const appended: number[] = [];
  const read: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    await pool.query(
      `insert into log_entries (entry) select convert_to('{"n":"' || gen_random_uuid() || '"}', 'UTF8')
       from generate_series(1, $1)`,
      [BATCH - 1],
    );
    read.push(await time(byKey));
    const before = await requestsOf(console);
    appended.push(await time(() => integrate(ctx)));
    requests.push((await requestsOf(console)) - before);
  }
  const after = await fullTiles(pool);
  const rewritten = [...full].filter(([place, version]) => after.get(place) !== version).length;
  const base = median(read);
  // The first round warms up.
  return {
    time: measured(appended.slice(1).map((took) => took / base)),
    requests: measured(requests.slice(1)),
    rewritten,
  };
}

async function requestsOf(console: Caller): Promise<number> {
  return (await console.call("GET", "/counters")).body.db.requests;
}

/** Which version each full tile has, by its place. */
async function fullTiles(pool: Pool): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ place: string; version: string }>(
    `select level || '/' || position as place, xmin::text as version from log_tiles where octet_length(hashes) = ${256 * HASH_BYTES}`,
  );
  return new Map(rows.map(({ place, version }) => [place, version]));
}

/** Grows the log to this size as the service would: entries in their places, hashes in their tiles, and one checkpoint. */
async function fill(pool: Pool, size: number): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    // Whoever else appends meanwhile loses to this one.
    await client.query("lock table log_checkpoints in exclusive mode");
    const { rows } = await client.query<{ size: string; edge: Buffer }>(
      "select size, edge from log_checkpoints order by size desc limit 1",
    );
    const start = Number(rows[0]?.size ?? 0);
    if (start >= size) return void (await client.query("rollback"));
    const bytes = rows[0]?.edge ?? Buffer.alloc(0);
    const edge = Array.from({ length: bytes.length / HASH_BYTES }, (_none, at) =>
      bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
    );
    const leaves = Array.from({ length: size - start }, (_none, at) => leafHash(Buffer.from(`{"n":"${start + at}"}`)));
    const { tree, grown } = append({ size: start, edge }, leaves);
    for (let at = 0; at < grown.length; at += TILES) {
      const tiles = grown
        .slice(at, at + TILES)
        .map(({ level, index, hashes }) => ({ level, index, hashes: Buffer.concat(hashes).toString("hex") }));
      await client.query(
        `insert into log_tiles as t (level, position, hashes)
         select level, index, decode(hashes, 'hex') from jsonb_to_recordset($1::jsonb) as g(level integer, index bigint, hashes text)
         on conflict (level, position) do update set hashes = t.hashes || excluded.hashes`,
        [JSON.stringify(tiles)],
      );
    }
    await client.query(
      inBulk(
        ["log_entries"],
        `insert into log_entries (position, entry) select n, convert_to('{"n":"' || n || '"}', 'UTF8')
           from generate_series(${start}, ${size - 1}) n;
         insert into log_checkpoints (size, previous_size, root, edge) values (${size}, ${start === 0 ? "null" : start},
           '\\x${rootOf(tree).toString("hex")}', '\\x${Buffer.concat(tree.edge).toString("hex")}')`,
      ),
    );
    await client.query("vacuum analyze log_entries");
    // Of a log that has grown by and by nothing waits to be written to disk: who appends would do that first.
    await client.query("checkpoint");
  } finally {
    client.release();
  }
}
