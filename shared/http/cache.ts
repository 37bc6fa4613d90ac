import type { CacheTag } from "./route.ts";

/** A finished answer to callers without credentials, with every header that all its readers share. */
export interface KeptAnswer {
  body: Uint8Array<ArrayBuffer>;
  headers: Headers;
  etag: string;
  tag: CacheTag;
  generation: number;
}

/** An answer that is kept, and the URLs by which it was asked for. */
interface Entry {
  key: string;
  answer: KeptAnswer;
  expires: number;
  urls: string[];
  bytes: number;
}

/** How long another isolate may go on showing what changed: the bound on staleness across locations. */
const LIFETIME_MS = 10_000;
/** An eighth of what an isolate may hold. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_BODY_BYTES = 256 * 1024;
/** URLs that one answer is found by without being validated, and how long they may be: the rest goes the whole way. */
const MAX_URLS = 8;
const MAX_URL_LENGTH = 1024;
/** What an entry, or one URL of it, takes beside its texts: objects and places in the maps. */
const ENTRY_BYTES = 512;
const URL_BYTES = 128;

/** Keeps answers of public reads in the isolate, at most `maxBytes` of them. A change made here is seen here at once. */
export interface AnswerCache {
  /** What is kept under a key and still holds. From now on `url` leads to it too. */
  get(key: string, url: string, now: number): KeptAnswer | null;
  /** What a URL led to before, where that still holds: a single look-up. */
  find(url: string, now: number): KeptAnswer | null;
  /** Keeps an answer that was begun in `generation` of its tag; one that a change has overtaken is not kept. */
  put(key: string, url: string, now: number, answer: KeptAnswer): void;
  /** The generation of a tag: it grows with every change. */
  generation(tag: CacheTag): number;
  /** Drops everything that depends on `tag`. */
  invalidate(tag: CacheTag): void;
  /** Bytes that are kept now, keys and headers included. */
  readonly bytes: number;
}

/** An empty cache. */
export function createAnswerCache(maxBytes = MAX_BYTES): AnswerCache {
  // All live equally long: the order in which they were put in is that in which they expire.
  const entries = new Map<string, Entry>();
  const byUrl = new Map<string, Entry>();
  const generations: Record<CacheTag, number> = { catalogue: 0, board: 0, fixed: 0 };
  let bytes = 0;

  const holds = ({ answer, expires }: Entry, now: number): boolean =>
    expires > now && answer.generation === generations[answer.tag];

  function drop(entry: Entry): void {
    entries.delete(entry.key);
    for (const url of entry.urls) byUrl.delete(url);
    bytes -= entry.bytes;
  }

  function grow(entry: Entry, by: number): void {
    entry.bytes += by;
    bytes += by;
  }

  function lead(url: string, entry: Entry): void {
    if (url.length > MAX_URL_LENGTH || byUrl.get(url) === entry) return;
    const oldest = entry.urls.length >= MAX_URLS ? entry.urls.shift() : undefined;
    if (oldest !== undefined) {
      byUrl.delete(oldest);
      grow(entry, -urlBytes(oldest));
    }
    entry.urls.push(url);
    byUrl.set(url, entry);
    grow(entry, urlBytes(url));
  }

  /** Drops what holds no more from the oldest on, then what is the oldest, until the rest fits. */
  function tidy(now: number): void {
    for (const entry of entries.values()) {
      if (holds(entry, now) && bytes <= maxBytes) return;
      drop(entry);
    }
  }

  function current(entry: Entry | undefined, now: number): KeptAnswer | null {
    if (entry === undefined) return null;
    if (holds(entry, now)) return entry.answer;
    drop(entry);
    return null;
  }

  return {
    get(key, url, now) {
      const entry = entries.get(key);
      const answer = current(entry, now);
      if (answer !== null && entry !== undefined) {
        lead(url, entry);
        tidy(now);
      }
      return answer;
    },
    find: (url, now) => current(byUrl.get(url), now),
    put(key, url, now, answer) {
      const known = entries.get(key);
      if (known !== undefined) drop(known);
      if (answer.body.byteLength <= MAX_BODY_BYTES && answer.generation === generations[answer.tag]) {
        const entry: Entry = { key, answer, expires: now + LIFETIME_MS, urls: [], bytes: 0 };
        entries.set(key, entry);
        grow(entry, entryBytes(key, answer));
        lead(url, entry);
      }
      tidy(now);
    },
    generation: (tag) => generations[tag],
    invalidate(tag) {
      generations[tag] += 1;
    },
    get bytes() {
      return bytes;
    },
  };
}

/** Texts are counted at two bytes a character, as the engine keeps those beyond Latin-1. */
function entryBytes(key: string, { body, headers, etag }: KeptAnswer): number {
  let characters = key.length + etag.length;
  headers.forEach((value, name) => {
    characters += name.length + value.length;
  });
  return ENTRY_BYTES + body.byteLength + 2 * characters;
}

function urlBytes(url: string): number {
  return URL_BYTES + 2 * url.length;
}
