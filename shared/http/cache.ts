import { createFlights, type Flights } from "../platform/flights.ts";
import type { CacheTag } from "./route.ts";

/** A finished answer to callers without credentials, with every header that all its readers share. */
export interface KeptAnswer {
  body: Uint8Array<ArrayBuffer>;
  headers: Headers;
  /** The same headers with those that each plain reader gets values of its own for. */
  plain: Headers;
  etag: string;
  tag: CacheTag;
  generation: number;
}

/** A kept answer, and the URLs that lead to it. */
interface Entry {
  key: string;
  answer: KeptAnswer;
  expires: number;
  urls: string[];
  bytes: number;
  /** Whether a request is making the answer anew, before this one expires. */
  renewing: boolean;
}

/** How long an answer is kept, and so for how long another isolate may go on showing what has changed. */
const LIFETIME_MS = 10_000;
/** The first request in an answer's last second makes it anew, so that one that many ask for never expires under them. */
const RENEWED_BEFORE_MS = 1000;
/** An eighth of an isolate's memory. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_BODY_BYTES = 256 * 1024;
/** How many URLs lead to one answer without validation, and how long each may be; other requests are validated first. */
const MAX_URLS = 8;
const MAX_URL_LENGTH = 1024;
/** The memory that an entry, or one of its URLs, takes besides its texts: objects and places in the maps. */
const ENTRY_BYTES = 512;
const URL_BYTES = 128;

/** Keeps answers of public reads in the isolate, at most `maxBytes` of them. A change made here is seen here at once. */
export interface AnswerCache {
  /**
   * The answer under a key if it is still valid. From now on `url` leads to it as well. Null, too, for the one request that
   * has to make it anew before it expires.
   */
  get(key: string, url: string, now: number): KeptAnswer | null;
  /** The answer that a URL led to before, if it is still valid and need not be made anew: a single look-up. */
  find(url: string, now: number): KeptAnswer | null;
  /** Keeps an answer, unless its tag has changed since the `generation` in which the answer was begun. */
  put(key: string, url: string, now: number, answer: KeptAnswer): void;
  /** The generation of a tag: it grows with every change. */
  generation(tag: CacheTag): number;
  /** The answers that are being made now. */
  readonly flights: Flights;
  /** Drops everything that depends on `tag`: with the catalogue the board, too. */
  invalidate(tag: CacheTag): void;
  /** Bytes that are kept now, keys and headers included. */
  readonly bytes: number;
}

/** An empty cache. */
export function createAnswerCache(maxBytes = MAX_BYTES): AnswerCache {
  // All entries live equally long, so they expire in the order in which they were put in.
  const entries = new Map<string, Entry>();
  const byUrl = new Map<string, Entry>();
  const generations: Record<CacheTag, number> = { catalogue: 0, board: 0, fixed: 0 };
  let bytes = 0;

  const holds = ({ answer, expires }: Entry, now: number): boolean =>
    expires > now && answer.generation === generations[answer.tag];

  const isDue = ({ expires, renewing }: Entry, now: number): boolean => !renewing && expires - RENEWED_BEFORE_MS <= now;

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

  /** Drops entries from the oldest on, until the oldest one is valid and the rest fits. */
  function tidy(now: number): void {
    for (const entry of entries.values()) {
      if (holds(entry, now) && bytes <= maxBytes) return;
      drop(entry);
    }
  }

  function current(entry: Entry | undefined, now: number): Entry | null {
    if (entry === undefined) return null;
    if (holds(entry, now)) return entry;
    drop(entry);
    return null;
  }

  return {
    get(key, url, now) {
      const entry = current(entries.get(key), now);
      if (entry === null) return null;
      if (isDue(entry, now)) {
        entry.renewing = true;
        return null;
      }
      lead(url, entry);
      tidy(now);
      return entry.answer;
    },
    find(url, now) {
      const entry = current(byUrl.get(url), now);
      return entry === null || isDue(entry, now) ? null : entry.answer;
    },
    put(key, url, now, answer) {
      const known = entries.get(key);
      if (known !== undefined) drop(known);
      if (answer.body.byteLength <= MAX_BODY_BYTES && answer.generation === generations[answer.tag]) {
        const entry: Entry = { key, answer, expires: now + LIFETIME_MS, urls: [], bytes: 0, renewing: false };
        entries.set(key, entry);
        grow(entry, entryBytes(key, answer));
        lead(url, entry);
      }
      tidy(now);
    },
    generation: (tag) => generations[tag],
    flights: createFlights(),
    invalidate(tag) {
      generations[tag] += 1;
      // What goes by the board names tasks and suites, too.
      if (tag === "catalogue") generations.board += 1;
    },
    get bytes() {
      return bytes;
    },
  };
}

/** Texts are counted at two bytes a character, as the engine keeps those beyond Latin-1. */
function entryBytes(key: string, { body, headers, plain, etag }: KeptAnswer): number {
  let characters = key.length + etag.length;
  for (const all of [headers, plain]) {
    all.forEach((value, name) => {
      characters += name.length + value.length;
    });
  }
  return ENTRY_BYTES + body.byteLength + 2 * characters;
}

function urlBytes(url: string): number {
  return URL_BYTES + 2 * url.length;
}
