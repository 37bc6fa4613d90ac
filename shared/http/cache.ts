import type { CacheTag } from "./route.ts";

/** A finished answer to callers without credentials, with every header that all its readers share. */
export interface KeptAnswer {
  body: string;
  headers: Headers;
  etag: string;
  tag: CacheTag;
  generation: number;
  expires: number;
}

/** How long another isolate may go on showing what changed: the bound on staleness across locations. */
const LIFETIME_MS = 10_000;
const MAX_ENTRIES = 500;
const MAX_BODY_CHARACTERS = 262_144;

/** Keeps answers of public reads in the isolate. A change made here is seen here at once. */
export interface AnswerCache {
  /** What is kept for a URL and still holds. */
  get(url: string, now: number): KeptAnswer | null;
  /** Keeps an answer that was begun in `generation` of its tag; one that a change has overtaken is not kept. */
  put(url: string, now: number, answer: Omit<KeptAnswer, "expires">): void;
  /** The generation of a tag: it grows with every change. */
  generation(tag: CacheTag): number;
  /** Drops everything that depends on `tag`. */
  invalidate(tag: CacheTag): void;
}

/** An empty cache. */
export function createAnswerCache(): AnswerCache {
  const entries = new Map<string, KeptAnswer>();
  const generations: Record<CacheTag, number> = { catalogue: 0, board: 0, fixed: 0 };
  return {
    get(url, now) {
      const entry = entries.get(url);
      if (entry === undefined) return null;
      if (entry.expires > now && entry.generation === generations[entry.tag]) return entry;
      entries.delete(url);
      return null;
    },
    put(url, now, answer) {
      if (answer.body.length > MAX_BODY_CHARACTERS || answer.generation !== generations[answer.tag]) return;
      const oldest = entries.size >= MAX_ENTRIES ? entries.keys().next().value : undefined;
      if (oldest !== undefined) entries.delete(oldest);
      entries.set(url, { ...answer, expires: now + LIFETIME_MS });
    },
    generation: (tag) => generations[tag],
    invalidate(tag) {
      generations[tag] += 1;
    },
  };
}
