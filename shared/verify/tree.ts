import { type Bytes, sha256 } from "./bytes.ts";

/** The hash of an entry as a leaf (RFC 6962, section 2.1). */
export function leafHash(entry: Bytes): Promise<Bytes> {
  return sha256(Uint8Array.of(0), entry);
}

/** The hash of a node over its two halves (RFC 6962, section 2.1). */
export function nodeHash(left: Bytes, right: Bytes): Promise<Bytes> {
  return sha256(Uint8Array.of(1), left, right);
}

/**
 * The root that a proof of inclusion leads to (RFC 9162, section 2.1.3.2); null for one that is too long or too short.
 * `index` is below `size`.
 */
export async function provenRoot(
  index: number,
  size: number,
  leaf: Bytes,
  path: readonly Bytes[],
): Promise<Bytes | null> {
  let [place, last, root] = [index, size - 1, leaf];
  for (const sibling of path) {
    if (last === 0) return null;
    if (place % 2 === 1 || place === last) {
      root = await nodeHash(sibling, root);
      while (place % 2 === 0 && place !== 0) [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
    } else {
      root = await nodeHash(root, sibling);
    }
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  return last === 0 ? root : null;
}

/** Gives the hash over so many entries from `start` on; `count` is a power of two, and `start` a multiple of it. */
export type Subtrees = (start: number, count: number) => Promise<Bytes>;

/** The hash over the entries from `start` up to `end`. */
async function over(start: number, end: number, subtrees: Subtrees): Promise<Bytes> {
  const half = largestBelow(end - start);
  if (end - start === 1 || half * 2 === end - start) return subtrees(start, end - start);
  return nodeHash(await subtrees(start, half), await over(start + half, end, subtrees));
}

/**
 * The roots of a tree when it had `before` entries and when it has `size`, both made of the same hashes: where they are
 * those of two states, the later one continues the earlier one (RFC 6962, section 2.1.2). `before` is 1 to `size`.
 */
export async function bothRoots(
  before: number,
  size: number,
  subtrees: Subtrees,
  start = 0,
): Promise<readonly [earlier: Bytes, later: Bytes]> {
  if (before === size) {
    const root = await over(start, start + size, subtrees);
    return [root, root];
  }
  const half = largestBelow(size);
  if (before <= half) {
    const [earlier, left] = await bothRoots(before, half, subtrees, start);
    return [earlier, await nodeHash(left, await over(start + half, start + size, subtrees))];
  }
  const left = await subtrees(start, half);
  const [earlier, right] = await bothRoots(before - half, size - half, subtrees, start + half);
  return [await nodeHash(left, earlier), await nodeHash(left, right)];
}

/** The largest power of two below `count`; 1 for 1. */
function largestBelow(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}
