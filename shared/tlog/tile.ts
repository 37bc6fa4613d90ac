/** How many hashes a full tile has, and how many entries a full bundle. */
export const TILE_WIDTH = 256;

/** A tile of the tree's hashes, or a bundle of entries (`level` is `entries`). */
export interface Tile {
  level: number | "entries";
  /** Its number within the level, from 0. */
  index: number;
  /** How many hashes or entries it has: 1 to 256, and less than 256 only at the right edge of a tree. */
  width: number;
}

/** What the path of a tile looks like. */
export const TILE_PATH = /^(entries|[1-5]?\d|6[0-3])\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;

/**
 * Reads the path of a tile as C2SP tlog-tiles writes it, without what stands before its level; null for any other text,
 * also for another spelling of the same tile.
 * @example
 * parseTilePath("0/x001/x234/067.p/8") // { level: 0, index: 1234067, width: 8 }
 */
export function parseTilePath(path: string): Tile | null {
  const [, level = "", number = "", partial] = TILE_PATH.exec(path) ?? [];
  const tile: Tile = {
    level: level === "entries" ? level : Number(level),
    index: Number(number.replaceAll(/[x/]/g, "")),
    width: Number(partial ?? TILE_WIDTH),
  };
  if (partial !== undefined && tile.width >= TILE_WIDTH) return null;
  return tilePath(tile) === path ? tile : null;
}

/** The path of a tile, as `parseTilePath` reads it. */
export function tilePath({ level, index, width }: Tile): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, "0").match(/\d{3}/g) ?? [];
  const number = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join("/");
  return `${level}/${number}${width === TILE_WIDTH ? "" : `.p/${width}`}`;
}
