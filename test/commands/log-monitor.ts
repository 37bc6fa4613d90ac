/**
 * `npm run log:monitor -- BASE_URL [STATE_FILE]`: follows the log of any service that serves C2SP tlog-tiles under
 * `BASE_URL/log`. It checks that the log continues what was seen before, prints each new entry, and keeps what it has seen
 * in the file, so that the next call goes on from there. Ends with 1 where the log is not what it was, or says nothing.
 *
 * The first call takes the log's key from the log; every later one holds it to that key.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import * as z from "zod";
import { append, EMPTY, rootOf } from "../../shared/tlog/append.ts";
import { decodeBundle } from "../../shared/tlog/bundle.ts";
import { parseCheckpoint } from "../../shared/tlog/checkpoint.ts";
import { leafHash } from "../../shared/tlog/hash.ts";
import { openNote, parseVerifierKey } from "../../shared/tlog/note.ts";
import { TILE_WIDTH, tilePath } from "../../shared/tlog/tile.ts";

const State = z.object({ key: z.string(), size: z.int(), edge: z.array(z.string()) });

async function get(prefix: string, path: string): Promise<Buffer> {
  const response = await fetch(`${prefix}/${path}`, { signal: AbortSignal.timeout(30_000) });
  if (!response.ok) throw new Error(`${prefix}/${path} answers ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

/** Reads the entries from `start` up to `end`, bundle by bundle. */
async function* entriesOf(prefix: string, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end; ) {
    const index = Math.floor(at / TILE_WIDTH);
    const first = index * TILE_WIDTH;
    const width = Math.min(TILE_WIDTH, end - first);
    const entries = decodeBundle(await get(prefix, `tile/${tilePath({ level: "entries", index, width })}`));
    if (entries.length !== width) throw new Error(`the bundle ${index} has ${entries.length} entries for ${width}`);
    yield* entries.slice(at - first);
    at = first + width;
  }
}

async function follow(base: string, file: string): Promise<void> {
  const prefix = `${base.replace(/\/$/, "")}/log`;
  const known = existsSync(file) ? State.parse(JSON.parse(readFileSync(file, "utf8"))) : null;
  const key = known?.key ?? (await get(prefix, "key")).toString().trim();
  const checkpoint = parseCheckpoint(
    await openNote((await get(prefix, "checkpoint")).toString(), parseVerifierKey(key)),
  );
  let tree = known === null ? EMPTY : { size: known.size, edge: known.edge.map((hash) => Buffer.from(hash, "base64")) };
  if (checkpoint.origin !== parseVerifierKey(key).name) throw new Error(`the log calls itself ${checkpoint.origin}`);
  if (checkpoint.size < tree.size) throw new Error(`the log shrank from ${tree.size} to ${checkpoint.size} entries`);
  const come: string[] = [];
  for await (const entry of entriesOf(prefix, tree.size, checkpoint.size)) {
    come.push(`${tree.size}\t${JSON.stringify(entry.toString()).slice(1, -1).replaceAll('\\"', '"')}`);
    ({ tree } = append(tree, [leafHash(entry)]));
  }
  if (!rootOf(tree).equals(checkpoint.root)) {
    throw new Error(`the log of ${tree.size} entries does not continue the ${known?.size ?? 0} that were seen before`);
  }
  for (const line of come) console.log(line);
  const state = { key, size: tree.size, edge: tree.edge.map((hash) => hash.toString("base64")) };
  writeFileSync(`${file}.new`, JSON.stringify(state));
  renameSync(`${file}.new`, file);
  console.error(`${checkpoint.origin}: ${tree.size} entries, consistent`);
}

const [base, file = "log-monitor.json"] = process.argv.slice(2);
if (base === undefined) {
  console.error("Give the service's address: npm run log:monitor -- https://SERVICE [STATE_FILE]");
  process.exitCode = 2;
} else {
  await follow(base, file).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  });
}
