import { base64, type Bytes, fromBase64, hex, textOf, utf8 } from "./bytes.ts";
import { type Checkpoint, openCheckpoint } from "./note.ts";
import { bothRoots, leafHash, nodeHash, provenRoot, type Subtrees } from "./tree.ts";
import { Refused, type Trail } from "./trail.ts";

/**
 * Reads a path of the service, as `/log/checkpoint`; rejects where it gives nothing, by `NotThere` where it says 404, and by
 * `Unread` where that may be otherwise in a moment.
 */
export type Get = (path: string, accept?: string) => Promise<Bytes>;

/** The service says that there is no such thing. */
export class NotThere extends Error {}

/** A proof that a log has an entry (C2SP tlog-proof). */
export interface Proof {
  index: number;
  path: readonly Bytes[];
  checkpoint: string;
  /** What it brings of the entry; null without. */
  extra: Bytes | null;
}

const WIDTH = 256;
const HASH_BYTES = 32;

/** The first line of a proof. */
export const PROOF_HEAD = "c2sp.org/tlog-proof@v1";

/** Reads a proof. @throws Refused for a text that is none. */
export function proofOf(text: string): Proof {
  const end = text.indexOf("\n\n");
  const [first, ...lines] = text.slice(0, Math.max(0, end)).split("\n");
  const extra = lines[0]?.startsWith("extra ") === true ? fromBase64(lines.shift()?.slice(6) ?? "") : null;
  const index = /^index (0|[1-9]\d{0,14})$/.exec(lines.shift() ?? "")?.[1];
  const path = lines.map(fromBase64).filter((hash) => hash?.length === HASH_BYTES);
  if (first !== PROOF_HEAD || index === undefined || path.length !== lines.length) {
    throw new Refused("It is no proof of a log (C2SP tlog-proof).");
  }
  return { index: Number(index), path: path.filter((hash) => hash !== null), checkpoint: text.slice(end + 2), extra };
}

/** The step `proof`: the text of a proof is one, and of the place that is shown beside it, where there is any. */
export async function checkProof(trail: Trail, text: string, place?: unknown): Promise<Proof> {
  return trail.go("proof", { proof: text }, async () => {
    const proof = proofOf(text);
    if (place !== undefined && place !== proof.index) {
      throw new Refused(`It is of entry ${proof.index}; the member index beside it says ${JSON.stringify(place)}.`);
    }
    return [`It says that the statement is entry ${proof.index}, by ${proof.path.length} hashes.`, proof];
  });
}

/** The step `inclusion`: the tree of the checkpoint has this entry at the place that the proof names. */
export async function checkInclusion(
  trail: Trail,
  entry: string,
  { index, path }: Proof,
  { size, root }: Checkpoint,
): Promise<void> {
  const leaf = await leafHash(utf8(entry));
  const inputs = {
    entry,
    "hash of the entry": base64(leaf),
    place: `${index} of ${size}`,
    "hashes on the way": path.map(base64).join("\n"),
    "signed root": base64(root),
  };
  trail.index = await trail.go("inclusion", inputs, async () => {
    if (index >= size) throw new Refused("The place lies beyond the signed state.");
    const found = await provenRoot(index, size, leaf, path);
    if (found === null || hex(found) !== hex(root)) {
      throw new Refused("The hashes do not lead to the signed root: the log does not have it there.");
    }
    return [`The hashes lead from entry ${index} to the signed root.`, index];
  });
}

/**
 * The step `consistency`: what the log serves now has the state `before` as its beginning, by its own tiles. A cache may give
 * a checkpoint that is seconds old, and so older than `before`: then it has to be the beginning of that state.
 */
export async function checkConsistency(trail: Trail, before: Checkpoint, key: string, get: Get): Promise<void> {
  const inputs: Record<string, string> = {
    "state that is known": `${before.size} entries, root ${base64(before.root)}`,
  };
  await trail.go("consistency", inputs, async () => {
    const now = await openCheckpoint(textOf(await get("/log/checkpoint")), key);
    inputs["state that is served now"] = `${now.size} entries, root ${base64(now.root)}`;
    if (before.size === 0) return ["Every log continues an empty one.", null];
    const more = now.size - before.size;
    const [older, newer] = more < 0 ? [now, before] : [before, now];
    const read: string[] = [];
    const [earlier, later] = await bothRoots(
      Math.max(1, older.size),
      newer.size,
      subtreesOf(newer.size, get, read),
    ).catch((error: unknown) => {
      const isShort = more < 0 && (error instanceof NotThere || error instanceof Refused);
      throw isShort ? new Refused(`The log has shrunk: it had ${before.size} entries, and has ${now.size}.`) : error;
    });
    inputs["tiles that were read"] = read.join("\n");
    if (hex(later) !== hex(newer.root))
      throw new Refused("The tiles of the log do not lead to the root that it signed.");
    if (older.size > 0 && hex(earlier) !== hex(older.root))
      throw new Refused("The log was forked: it had other entries before.");
    if (more < 0)
      return [`It is the same log; the state that was served is an older one, without ${-more} entries.`, null];
    return [`It is the same log, ${more === 0 ? "as it was" : `and has ${more} more entries`}.`, null];
  });
}

/** The subtrees of a log of `size` entries, from its tiles (C2SP tlog-tiles); each is read once, and noted in `read`. */
function subtreesOf(size: number, get: Get, read: string[]): Subtrees {
  const tiles = new Map<string, Promise<Bytes>>();
  const tile = (level: number, index: number): Promise<Bytes> => {
    const width = Math.min(WIDTH, Math.floor(size / WIDTH ** level) - index * WIDTH);
    const path = `/log/tile/${tilePath(level, index)}${width < WIDTH ? `.p/${width}` : ""}`;
    const known = tiles.get(path) ?? get(path);
    if (!tiles.has(path)) read.push(path);
    tiles.set(path, known);
    return known;
  };
  return async (start, count) => {
    let [level, span] = [0, 1];
    while (span * WIDTH <= count) [level, span] = [level + 1, span * WIDTH];
    const place = start / span;
    const bytes = await tile(level, Math.floor(place / WIDTH));
    const first = (place % WIDTH) * HASH_BYTES;
    return perfect(bytes.slice(first, first + (count / span) * HASH_BYTES), count / span);
  };
}

/** The root over so many hashes, a power of two. */
async function perfect(hashes: Bytes, count: number): Promise<Bytes> {
  if (hashes.length !== count * HASH_BYTES) throw new Refused("A tile of the log is shorter than it says.");
  if (count === 1) return hashes;
  const middle = hashes.length / 2;
  return nodeHash(await perfect(hashes.slice(0, middle), count / 2), await perfect(hashes.slice(middle), count / 2));
}

/** The path of a tile or bundle, without its width. */
export function tilePath(level: number | "entries", index: number): string {
  const groups = String(index)
    .padStart(Math.ceil(String(index).length / 3) * 3, "0")
    .match(/\d{3}/g);
  return `${level}/${(groups ?? []).map((group, place, all) => (place < all.length - 1 ? `x${group}` : group)).join("/")}`;
}
