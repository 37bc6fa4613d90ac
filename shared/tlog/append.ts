import type { Buffer } from "node:buffer";
import { nodeHash, sha256 } from "./hash.ts";
import { TILE_WIDTH } from "./tile.ts";

/** What has to be known of a tree to append to it: it stands for all entries that there are. */
export interface Tree {
  /** How many entries it has. */
  size: number;
  /** The roots of the perfect subtrees that it consists of, from the largest: one for each bit that is set in `size`. */
  edge: readonly Buffer[];
}

/** The tree without entries. */
export const EMPTY: Tree = { size: 0, edge: [] };

/** Hashes to write into a tile from the place `start`, which is where its hashes ended. */
export interface Grown {
  level: number;
  index: number;
  start: number;
  hashes: Buffer[];
}

/**
 * The tree after `leaves` (hashes of leaves), and by what its tiles grew: each tile that changed once, level by level from
 * the left. It makes as many hashes as there are leaves, and at most log₂ of the size.
 * @throws RangeError for an edge that does not fit the size.
 */
export function append(tree: Tree, leaves: readonly Buffer[]): { tree: Tree; grown: Grown[] } {
  const edge = [...tree.edge];
  if (edge.length !== bitsOf(tree.size)) throw new RangeError("the edge does not fit the size");
  const grown = new Map<string, Grown>();
  let { size } = tree;
  for (const leaf of leaves) {
    let hash = leaf;
    let index = size;
    keep(grown, 0, index, hash);
    // Each subtree that is complete now becomes the right half of one twice as large.
    for (let height = 1; index % 2 === 1; height += 1) {
      const left = edge.pop();
      if (left === undefined) throw new RangeError("the edge does not fit the size");
      hash = nodeHash(left, hash);
      index = (index - 1) / 2;
      if (height % 8 === 0) keep(grown, height / 8, index, hash);
    }
    edge.push(hash);
    size += 1;
  }
  const byPlace = (a: Grown, b: Grown): number => a.level - b.level || a.index - b.index;
  return { tree: { size, edge }, grown: [...grown.values()].toSorted(byPlace) };
}

/** Notes the hash with the number `place` of a level in its tile. */
function keep(grown: Map<string, Grown>, level: number, place: number, hash: Buffer): void {
  const index = Math.floor(place / TILE_WIDTH);
  const key = `${level}/${index}`;
  const tile = grown.get(key);
  if (tile === undefined) grown.set(key, { level, index, start: place % TILE_WIDTH, hashes: [hash] });
  else tile.hashes.push(hash);
}

/** The root of a tree (RFC 6962, section 2.1); that of the empty one is the hash of nothing. */
export function rootOf({ edge }: Tree): Buffer {
  const [last, ...larger] = edge.toReversed();
  if (last === undefined) return sha256();
  return larger.reduce((right, left) => nodeHash(left, right), last);
}

/** How many bits of a whole number below 2^53 are set. */
export function bitsOf(size: number): number {
  return Array.from(size.toString(2)).filter((bit) => bit === "1").length;
}
