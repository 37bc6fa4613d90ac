import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { COMPANY_STEMS, FIRST_NAMES, TRADES } from "./words.ts";

/** An array of exactly N elements where N is a literal, else a plain array. */
export type Tuple<T, N extends number, R extends T[] = []> = number extends N
  ? T[]
  : R["length"] extends N
    ? R
    : Tuple<T, N, [...R, T]>;

/** A deterministic source of draws. Every choice is uniform; every method advances the one stream. */
export interface Random {
  /** A whole number from `min` to `max`, both included; `min` is at most `max` and their span at most 2^32. */
  int(min: number, max: number): number;
  /** One of the items; RangeError where there is none. */
  pick<T>(items: readonly T[]): T;
  /** `count` items at different places, in random order; RangeError where there are fewer. */
  sample<T, N extends number>(items: readonly T[], count: N): Tuple<T, N>;
  /** All items in random order; the argument stays as it is. */
  shuffle<T>(items: readonly T[]): T[];
  /** Different invented first names. */
  people<N extends number>(count: N): Tuple<string, N>;
  /** Different invented company names. */
  companies<N extends number>(count: N): Tuple<string, N>;
  /** Different identifiers such as `KR-4071`. */
  codes<N extends number>(prefix: string, count: N): Tuple<string, N>;
}

const WORDS_PER_BLOCK = 8;
const MAX_DRAWS = 10_000;

function hasLength<T, N extends number>(items: T[], length: N): items is T[] & Tuple<T, N> {
  return items.length === length;
}

/** The stream of 32-bit words SHA-256(seed ‖ 0), SHA-256(seed ‖ 1), …; seed and 32-bit counter, all big-endian. */
function* wordStream(seed: Uint8Array): Generator<number, never> {
  const hashed = Buffer.concat([seed, Buffer.alloc(4)]);
  for (let block = 0; ; block += 1) {
    hashed.writeUInt32BE(block, seed.length);
    const digest = createHash("sha256").update(hashed).digest();
    for (let word = 0; word < WORDS_PER_BLOCK; word += 1) yield digest.readUInt32BE(4 * word);
  }
}

/** The draws that 32 bytes of seed determine (SHA-256 in counter mode). RangeError on another length. */
export function randomFrom(seed: Uint8Array): Random {
  if (seed.length !== 32) throw new RangeError("a seed has 32 bytes");
  const words = wordStream(seed);

  const int = (min: number, max: number): number => {
    const span = max - min + 1;
    // Words at or above the largest multiple of the span would favour small results.
    const limit = 2 ** 32 - (2 ** 32 % span);
    let word = words.next().value;
    while (word >= limit) word = words.next().value;
    return min + (word % span);
  };
  const sample = <T, N extends number>(items: readonly T[], count: N): T[] & Tuple<T, N> => {
    const rest = [...items];
    const drawn: T[] = [];
    while (drawn.length < count && rest.length > 0) drawn.push(...rest.splice(int(0, rest.length - 1), 1));
    if (!hasLength(drawn, count)) throw new RangeError(`cannot draw ${count} of ${items.length} items`);
    return drawn;
  };
  // The one item of a sample, without a copy of the list: most draws are picks.
  const pick = <T>(items: readonly T[]): T => {
    const place = int(0, Math.max(0, items.length - 1));
    for (const item of items.slice(place, place + 1)) return item;
    throw new RangeError("cannot draw 1 of 0 items");
  };
  const distinct = <N extends number>(count: N, make: () => string): Tuple<string, N> => {
    const made = new Set<string>();
    while (made.size < count) made.add(make());
    return sample([...made], count);
  };

  return {
    int,
    pick,
    sample,
    shuffle: (items) => sample(items, items.length),
    people: (count) => sample<string, typeof count>(FIRST_NAMES, count),
    companies: (count) => distinct(count, () => `${pick(COMPANY_STEMS)} ${pick(TRADES)}`),
    codes: (prefix, count) => distinct(count, () => `${prefix}-${int(1000, 9999)}`),
  };
}

/** Repeats `draw` until it gives a value; an Error when it does not within 10,000 tries, so that no mint can hang. */
export function drawUntil<T>(draw: () => T | undefined): T {
  for (let tries = 0; tries < MAX_DRAWS; tries += 1) {
    const drawn = draw();
    if (drawn !== undefined) return drawn;
  }
  throw new Error("no draw met the conditions of the template");
}
