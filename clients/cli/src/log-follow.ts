import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import * as z from "zod";
import { append, EMPTY, rootOf, type Tree } from "../../../shared/tlog/append.ts";
import { decodeBundle } from "../../../shared/tlog/bundle.ts";
import { parseCheckpoint } from "../../../shared/tlog/checkpoint.ts";
import { leafHash } from "../../../shared/tlog/hash.ts";
import { openNote, parseVerifierKey } from "../../../shared/tlog/note.ts";
import { TILE_WIDTH, tilePath } from "../../../shared/tlog/tile.ts";
import { checkConsistency, type Get as Read, NotThere } from "../../../shared/verify/log.ts";
import { reportOf } from "../../../shared/verify/trail.ts";
import { pauseFor, type Retries, retrying, type Send } from "../../typescript/src/retry.ts";
import { EXIT, Failure, reach } from "./failure.ts";

/** What was seen of a log, and where; a file of before does not say where. */
const State = z.object({ base: z.string().optional(), key: z.string(), size: z.int(), edge: z.array(z.string()) });

/** The log is not what it was, or not what it says. */
export class LogFault extends Error {}

/** What following a log finds. */
export interface Followed {
  origin: string;
  /** How many entries the log has. */
  size: number;
  /** Those that came since the last call, as lines: the place, a tab, the entry. */
  entries: string[];
}

/** How the log is asked. */
export interface Asking {
  send: Send;
  sleep: Retries["sleep"];
}

/** Reads a path of the log. */
type Get = (path: string) => Promise<Buffer>;

/** Reads paths under `prefix`, and waits as long as the service asks for: a long log takes more than it allows a minute. */
function getter(prefix: string, { send, sleep }: Asking): Get {
  const timed: Send = (request) => send(new Request(request, { signal: AbortSignal.timeout(30_000) }));
  const patient = retrying(timed, { retries: 4, longestPauseMs: 120_000, sleep });
  return async (path) => {
    const response = await patient(new Request(`${prefix}/${path}`));
    const Missing = response.status === 404 ? NotThere : Error;
    if (!response.ok) throw new Missing(`${prefix}/${path} answers ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  };
}

/** Reads the entries from `start` up to `end`, bundle by bundle. */
async function* entriesOf(get: Get, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end; ) {
    const index = Math.floor(at / TILE_WIDTH);
    const first = index * TILE_WIDTH;
    const width = Math.min(TILE_WIDTH, end - first);
    const bundle = await get(`tile/${tilePath({ level: "entries", index, width })}`);
    const entries = await held(() => decodeBundle(bundle));
    if (entries.length !== width) throw new LogFault(`the bundle ${index} has ${entries.length} entries for ${width}`);
    yield* entries.slice(at - first);
    at = first + width;
  }
}

/** What an earlier call kept; null where there is no file. @throws Failure for a file that can't be read or is damaged */
function stateIn(file: string): z.output<typeof State> | null {
  if (!existsSync(file)) return null;
  try {
    const state = State.parse(JSON.parse(readFileSync(file, "utf8")));
    parseVerifierKey(state.key);
    return state;
  } catch (error) {
    const why = error instanceof Error && "syscall" in error ? error.message : "it is not what an earlier call kept";
    const advice = "Name another file, or remove it: then the log is read from its beginning, and its key taken anew.";
    throw new Failure(EXIT.usage, `${file} can't be gone by: ${why}.\n${advice}`);
  }
}

/** Keeps what was seen. @throws Failure where the file can't be written */
function keep(file: string, state: z.output<typeof State>): void {
  try {
    writeFileSync(`${file}.new`, JSON.stringify(state));
    renameSync(`${file}.new`, file);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(EXIT.usage, `What was seen of the log can't be kept in ${file}: ${why}`);
  }
}

/** What a reading of the log's own words gives; what they can't be is a fault of the log. */
async function held<T>(reading: () => T | Promise<T>): Promise<T> {
  try {
    return await reading();
  } catch (error) {
    throw error instanceof RangeError ? new LogFault(error.message) : error;
  }
}

/**
 * Whether the older state that `note` tells of is a beginning of what was seen, by the log's own tiles: a cache may give a
 * checkpoint that is seconds old. Rejects where a tile can't be read for another reason than that there is none.
 */
async function isBeginning(note: string, seen: Tree, key: string, get: Get): Promise<boolean> {
  const { name } = parseVerifierKey(key);
  const faults: unknown[] = [];
  const read: Read = async (path) => {
    if (path === "/log/checkpoint") return Uint8Array.from(Buffer.from(note));
    return get(path.slice("/log/".length)).then(
      (bytes) => Uint8Array.from(bytes),
      (error: unknown) => {
        if (!(error instanceof NotThere)) faults.push(error);
        throw error;
      },
    );
  };
  const known = { origin: name, size: seen.size, root: Uint8Array.from(rootOf(seen)) };
  const { failed } = await reportOf((trail) => checkConsistency(trail, known, key, read));
  if (faults.length > 0) throw faults[0];
  return failed === null;
}

/**
 * Follows the log of any service that serves C2SP tlog-tiles under `base/log`: checks that it continues what `file` says of
 * the last call, and keeps there what it has seen now. The first call takes the log's key from the log.
 * @throws LogFault where the log is not a continuation of what was seen, or not signed by its key; Failure where the file is
 * of the log of another service, is damaged, or can't be written
 */
export async function follow(
  base: string,
  file: string,
  { send = reach, sleep = pauseFor }: Partial<Asking> = {},
): Promise<Followed> {
  const url = base.replace(/\/$/, "");
  const get = getter(`${url}/log`, { send, sleep });
  const known = stateIn(file);
  const key = known?.key ?? (await get("key")).toString().trim();
  const note = (await get("checkpoint")).toString();
  const checkpoint = await held(async () => parseCheckpoint(await openNote(note, parseVerifierKey(key)))).catch(
    (error: unknown) => {
      // One log may be read at several addresses, so the addresses alone say nothing.
      if (known?.base === undefined || known.base === url) throw error;
      const advice = `name another file for ${url}`;
      throw new Failure(EXIT.usage, `${file} is of the log of ${known.base}, which this is not: ${advice}.`);
    },
  );
  let tree: Tree =
    known === null ? EMPTY : { size: known.size, edge: known.edge.map((hash) => Buffer.from(hash, "base64")) };
  const { origin, size, root } = checkpoint;
  if (origin !== parseVerifierKey(key).name) throw new LogFault(`the log calls itself ${origin}`);
  if (size < tree.size) {
    if (await isBeginning(note, tree, key, get)) return { origin, size: tree.size, entries: [] };
    throw new LogFault(`the log shrank from ${tree.size} to ${size} entries`);
  }
  const entries: string[] = [];
  for await (const entry of entriesOf(get, tree.size, size)) {
    entries.push(`${tree.size}\t${JSON.stringify(entry.toString()).slice(1, -1).replaceAll('\\"', '"')}`);
    ({ tree } = append(tree, [leafHash(entry)]));
  }
  if (!rootOf(tree).equals(root)) {
    throw new LogFault(
      `the log of ${tree.size} entries does not continue the ${known?.size ?? 0} that were seen before`,
    );
  }
  keep(file, { base: url, key, size: tree.size, edge: tree.edge.map((hash) => hash.toString("base64")) });
  return { origin, size, entries };
}
