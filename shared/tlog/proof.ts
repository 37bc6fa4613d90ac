import type { Buffer } from "node:buffer";
import { HASH_BYTES, nodeHash } from "./hash.ts";
import { TILE_WIDTH } from "./tile.ts";

/** Gives a tile's hashes, as far as it has any; it is asked for tiles that the tree of the proof has. */
export type TileSource = (level: number, index: number) => Buffer;

/**
 * The proof that the entry `index` is in the tree of `size` entries (RFC 6962, section 2.1.1): hashes from that of the
 * leaf's sibling to that of the root's child. Of each level of tiles it needs at most two: that which the entry is under,
 * and the last one of the tree.
 * @throws RangeError for an entry that is not in the tree.
 */
export function inclusionProof(index: number, size: number, tiles: TileSource): Buffer[] {
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) throw new RangeError("the tree has no such entry");
  const proof: Buffer[] = [];
  let [start, end] = [0, size];
  while (end - start > 1) {
    const middle = start + largestBelow(end - start);
    const isLeft = index < middle;
    proof.push(isLeft ? hashOf(middle, end, tiles) : hashOf(start, middle, tiles));
    [start, end] = isLeft ? [start, middle] : [middle, end];
  }
  return proof.toReversed();
}

/** The hash over the entries from `start` up to `end`; `start` is a multiple of the largest power of two that fits in. */
function hashOf(start: number, end: number, tiles: TileSource): Buffer {
  const count = end - start;
  const half = largestBelow(count);
  if (half * 2 !== count && count > 1) {
    return nodeHash(hashOf(start, start + half, tiles), hashOf(start + half, end, tiles));
  }
  let level = 0;
  let span = 1;
  while (span * TILE_WIDTH <= count) [level, span] = [level + 1, span * TILE_WIDTH];
  const first = start / span;
  const offset = (first % TILE_WIDTH) * HASH_BYTES;
  const hashes = tiles(level, Math.floor(first / TILE_WIDTH)).subarray(offset, offset + (count / span) * HASH_BYTES);
  if (hashes.length !== (count / span) * HASH_BYTES) throw new RangeError("a tile is shorter than the tree needs");
  return rootOfPerfect(hashes);
}

/** The root over as many hashes as a power of two. */
function rootOfPerfect(hashes: Buffer): Buffer {
  if (hashes.length === HASH_BYTES) return hashes;
  const middle = hashes.length / 2;
  return nodeHash(rootOfPerfect(hashes.subarray(0, middle)), rootOfPerfect(hashes.subarray(middle)));
}

/** The largest power of two below `count`; 1 for 1. */
function largestBelow(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}

/**
 * The text by which anybody checks offline that an entry is in a log (C2SP tlog-proof): the entry's place, its proof, and
 * the checkpoint (a signed note) whose tree the proof is of. `extra` are bytes from which the reader makes the entry.
 */
export function proofText(index: number, proof: readonly Buffer[], checkpoint: string, extra?: Buffer): string {
  const hashes = proof.map((hash) => `${hash.toString("base64")}\n`).join("");
  const sent = extra === undefined ? "" : `extra ${extra.toString("base64")}\n`;
  return `c2sp.org/tlog-proof@v1\n${sent}index ${index}\n${hashes}\n${checkpoint}`;
}
