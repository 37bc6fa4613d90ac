import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { append, EMPTY, rootOf, type Tree } from "../../../shared/tlog/append.ts";
import { decodeBundle, encodeBundle } from "../../../shared/tlog/bundle.ts";
import { leafHash } from "../../../shared/tlog/hash.ts";
import { inclusionProof } from "../../../shared/tlog/proof.ts";
import { parseTilePath, tilePath } from "../../../shared/tlog/tile.ts";
import { leafOf, provenRoot, treeHash } from "../../integration/transparency/verifier.ts";

const LEAVES = Array.from({ length: 600 }, (_, index) => leafHash(Buffer.from(`entry ${index}`)));

/** Builds a tree in batches of these sizes; its tiles grow only at their ends. */
function build(batches: readonly number[]): { tree: Tree; tiles: Map<string, Buffer> } {
  let tree = EMPTY;
  const tiles = new Map<string, Buffer>();
  for (const batch of batches) {
    const next = append(tree, LEAVES.slice(tree.size, tree.size + batch));
    for (const { level, index, start, hashes } of next.grown) {
      const before = tiles.get(`${level}/${index}`) ?? Buffer.alloc(0);
      expect(before.length).toBe(start * 32);
      tiles.set(`${level}/${index}`, Buffer.concat([before, ...hashes]));
    }
    tree = next.tree;
  }
  return { tree, tiles };
}

const batches = fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 6 });
const sized = batches.map((sizes) => {
  const { tree, tiles } = build(sizes);
  return { size: tree.size, tree, tiles };
});

describe("a tree of any size, appended to in any batches", () => {
  test("has the root and the tiles that its definition gives", () => {
    fc.assert(
      fc.property(sized, ({ size, tree, tiles }) => {
        const leaves = LEAVES.slice(0, size);
        expect(rootOf(tree)).toEqual(treeHash(leaves));
        const expected = new Map<string, Buffer>();
        for (let index = 0; index * 256 < size; index += 1) {
          const below = leaves.slice(index * 256, (index + 1) * 256);
          expected.set(`0/${index}`, Buffer.concat(below));
          if (below.length === 256) {
            expected.set("1/0", Buffer.concat([expected.get("1/0") ?? Buffer.alloc(0), treeHash(below)]));
          }
        }
        expect(tiles).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  test("proves each of its entries, and proves none by the proof of another", () => {
    fc.assert(
      fc.property(sized, fc.nat(), fc.nat(), ({ size, tree, tiles }, some, other) => {
        fc.pre(size > 1);
        const index = some % size;
        const source = (level: number, tile: number) => tiles.get(`${level}/${tile}`) ?? Buffer.alloc(0);
        const proof = inclusionProof(index, size, source);
        const leaf = (at: number) => leafOf(Buffer.from(`entry ${at}`));
        expect(provenRoot(index, size, leaf(index), proof)).toEqual(rootOf(tree));
        const wrong = (index + 1 + (other % (size - 1))) % size;
        expect(provenRoot(index, size, leaf(wrong), proof)).not.toEqual(rootOf(tree));
      }),
      { numRuns: 200 },
    );
  });
});

test("a proof needs no more than two tiles of a level, in a tree of a million entries too", () => {
  const size = 1_000_003;
  for (const index of [0, 255, 256, 65_535, 65_536, 999_999, 1_000_002]) {
    const asked = new Map<number, Set<number>>();
    inclusionProof(index, size, (level, tile) => {
      asked.set(level, (asked.get(level) ?? new Set()).add(tile));
      return Buffer.alloc(256 * 32);
    });
    for (const [level, tiles] of asked) {
      const [own, last] = [index, size].map((place) => Math.floor(place / 256 ** (level + 1)));
      expect([...tiles].filter((tile) => tile !== own && tile !== last)).toEqual([]);
    }
  }
});

describe("the path of a tile", () => {
  test.each([
    ["0/x001/x234/067", { level: 0, index: 1_234_067, width: 256 }],
    ["0/000", { level: 0, index: 0, width: 256 }],
    ["63/999.p/255", { level: 63, index: 999, width: 255 }],
    ["entries/x001/000.p/1", { level: "entries" as const, index: 1000, width: 1 }],
  ])("%s is read and written", (path, tile) => {
    expect(parseTilePath(path)).toEqual(tile);
    expect(tilePath(tile)).toBe(path);
  });

  test.each([
    "",
    "0",
    "0/0",
    "0/00",
    "00/000",
    "64/000",
    "0/x000/001",
    "0/001/002",
    "0/000.p/0",
    "0/000.p/256",
    "0/000.p/01",
    "0/000.p/",
    "-1/000",
    "entries",
    "x/000",
    "0/000/",
    " 0/000",
  ])("%s is none", (path) => expect(parseTilePath(path)).toBeNull());
});

test("a bundle gives back its entries", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 20 }), (entries) => {
      const given = entries.map((entry) => Buffer.from(entry));
      expect(decodeBundle(encodeBundle(given))).toEqual(given);
    }),
  );
});
