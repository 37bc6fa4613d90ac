import type { CacheTag } from "./route.ts";

/** A finished answer to callers without credentials. */
interface Entry {
  body: string;
  headers: Headers;
  expires: number;
  generation: number;
}

/** How long another isolate may go on showing what changed: the bound on staleness across locations. */
const LIFETIME_MS = 10_000;
const MAX_ENTRIES = 500;
const MAX_BODY_CHARACTERS = 262_144;

/** Keeps answers of public reads in the isolate. A change made here is seen here at once. */
export interface AnswerCache {
  get(key: string, tag: CacheTag, now: number): Entry | null;
  put(key: string, tag: CacheTag, now: number, body: string, headers: Headers): void;
  /** Drops everything that depends on `tag`. */
  invalidate(tag: CacheTag): void;
}

/** An empty cache. */
export function createAnswerCache(): AnswerCache {
  const entries = new Map<string, Entry>();
  const generations: Record<CacheTag, number> = { catalogue: 0, board: 0, fixed: 0 };
  return {
    get(key, tag, now) {
      const entry = entries.get(key);
      if (entry === undefined) return null;
      if (entry.expires > now && entry.generation === generations[tag]) return entry;
      entries.delete(key);
      return null;
    },
    put(key, tag, now, body, headers) {
      if (body.length > MAX_BODY_CHARACTERS) return;
      const oldest = entries.size >= MAX_ENTRIES ? entries.keys().next().value : undefined;
      if (oldest !== undefined) entries.delete(oldest);
      const kept = new Headers(
        [...headers].filter(([name]) => !name.startsWith("ratelimit") && name !== "x-request-id"),
      );
      entries.set(key, { body, headers: kept, expires: now + LIFETIME_MS, generation: generations[tag] });
    },
    invalidate(tag) {
      generations[tag] += 1;
    },
  };
}
