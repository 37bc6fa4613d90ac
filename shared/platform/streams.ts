import { Problem } from "./problem.ts";

/** Event streams that may be open in one isolate: of one caller, by account or address, and of all callers together. */
export const MOST_STREAMS = { caller: 5, all: 1000 } as const;

/**
 * A stream that has not been heard of for so long is gone, and its place is free: the runtime may drop a request without
 * a word to its code. Longer than a stream waits in one piece and the database takes at most, one after the other.
 */
const SILENCE_MS = 20_000;
/** Milliseconds between looks at one subject: they grow while nothing happens, and are short again after something did. */
const PAUSE_MS = { first: 1000, longest: 15_000 };
const PAUSE_GROWTH = 1.5;
/** How long others wait for a look that is under way before one of them looks too; its request may have been dropped. */
const PATIENCE_MS = 2000;
const RECHECK_MS = 100;

/** What a reader is told: the text, the cursor behind it, whether anything happened, and whether that was the last. */
export interface Told {
  text: string;
  cursor: string;
  news: boolean;
  ended: boolean;
}

/**
 * What one look at a subject found, for several viewers. It is plain data and outlives the request that looked: workerd
 * lets no request wait for what another one is doing, but what another one has found it may read.
 */
export interface Sighting {
  /** What `viewer` is told who knows all up to `cursor`: `hidden` where it may not see the subject, `unknown` where this look can't tell. */
  tell(viewer: string | null, cursor: string): Told | "hidden" | "unknown";
}

/** Looks at a subject for these viewers: for all that happened after `cursor`, and for who may see it. */
export type Look = (viewers: readonly (string | null)[], cursor: string) => Promise<Sighting>;

/** Whose stream it is, as limits count callers and as rights do, and what it is about. */
export interface Reader {
  caller: string;
  viewer: string | null;
  subject: string;
}

/** An open stream's place among the others. */
export interface OpenStream {
  /** The look of a stream that has just been opened: for this one alone, since where its reader stands nobody else knows. */
  first(cursor: string, look: Look): Promise<Told | "hidden">;
  /** Says that the stream lives, which it must every few seconds; false where its place was given up and is taken. */
  hold(now: number): boolean;
  /** Milliseconds until there may be something new; 0 where `next` has something to do. */
  wait(now: number): number;
  /** What came after `cursor`, as another stream's look found it meanwhile, else by a look for all streams of the subject. */
  next(cursor: string, now: () => number, look: Look): Promise<Told | "hidden">;
  /** Leaves the place; does nothing the second time. */
  close(): void;
}

/** The event streams that are open in an isolate. */
export interface Streams {
  /** Takes a place. Throws `too_many_streams` (429) for the caller's sixth, `streams_full` (503) where all are taken. */
  open(reader: Reader, now: number): OpenStream;
}

interface Place extends Reader {
  heldAt: number;
  /** When the look ended that the stream was told of last, by the count of `tick`. */
  heard: number;
}

interface Subject {
  pause: number;
  dueAt: number;
  lookingUntil: number;
  latest: { begun: number; ended: number; sighting: Sighting } | null;
}

/** No open stream yet. */
export function createStreams(): Streams {
  const places = new Set<Place>();
  const subjects = new Map<string, Subject>();
  let ticks = 0;
  const tick = (): number => (ticks += 1);

  function leave(place: Place): void {
    if (!places.delete(place)) return;
    if (!others(place).some(({ subject }) => subject === place.subject)) subjects.delete(place.subject);
  }

  function others(place: Place): Place[] {
    return [...places].filter((other) => other !== place);
  }

  function enter(place: Place): void {
    for (const other of places) if (other.heldAt + SILENCE_MS < place.heldAt) leave(other);
    if (others(place).filter(({ caller }) => caller === place.caller).length >= MOST_STREAMS.caller) throw tooMany();
    if (places.size >= MOST_STREAMS.all) throw full();
    places.add(place);
  }

  function subjectOf({ subject, heldAt }: Place): Subject {
    const known = subjects.get(subject);
    if (known !== undefined) return known;
    const fresh = { pause: PAUSE_MS.first, dueAt: heldAt + PAUSE_MS.first, lookingUntil: 0, latest: null };
    subjects.set(subject, fresh);
    return fresh;
  }

  /** The latest look that began after all that the stream was told: what it found is newer for certain. */
  function newer(place: Place): Subject["latest"] {
    const { latest } = subjectOf(place);
    return latest !== null && latest.begun > place.heard ? latest : null;
  }

  async function lookForAll(place: Place, cursor: string, now: () => number, look: Look): Promise<Told | "hidden"> {
    const subject = subjectOf(place);
    const viewers = others(place).filter((other) => other.subject === place.subject);
    const begun = tick();
    subject.lookingUntil = now() + PATIENCE_MS;
    let news = false;
    try {
      const sighting = await look([...new Set([place, ...viewers].map(({ viewer }) => viewer))], cursor);
      const ended = tick();
      if (subject.latest === null || subject.latest.begun < begun) subject.latest = { begun, ended, sighting };
      place.heard = ended;
      const told = tellTo(place, cursor, sighting);
      news = told !== "hidden" && told.news;
      return told;
    } finally {
      // Also after a failure, so that the streams beside this one do not all run into it at once.
      subject.lookingUntil = 0;
      subject.pause = news ? PAUSE_MS.first : Math.min(Math.round(subject.pause * PAUSE_GROWTH), PAUSE_MS.longest);
      subject.dueAt = now() + subject.pause;
    }
  }

  return {
    open(reader, openedAt) {
      const place: Place = { ...reader, heldAt: openedAt, heard: 0 };
      enter(place);
      subjectOf(place);
      return {
        async first(cursor, look) {
          const sighting = await look([place.viewer], cursor);
          place.heard = tick();
          return tellTo(place, cursor, sighting);
        },
        hold(now) {
          place.heldAt = now;
          if (places.has(place)) return true;
          try {
            enter(place);
            return true;
          } catch {
            return false;
          }
        },
        wait(now) {
          const { dueAt, lookingUntil } = subjectOf(place);
          if (newer(place) !== null) return 0;
          if (dueAt > now) return dueAt - now;
          return lookingUntil > now ? RECHECK_MS : 0;
        },
        async next(cursor, now, look) {
          const latest = newer(place);
          const told = latest?.sighting.tell(place.viewer, cursor) ?? "unknown";
          if (latest === null || told === "unknown") return lookForAll(place, cursor, now, look);
          place.heard = latest.ended;
          return told;
        },
        close: () => leave(place),
      };
    },
  };
}

/** What a stream's own look tells it. */
function tellTo({ viewer }: Reader, cursor: string, sighting: Sighting): Told | "hidden" {
  const told = sighting.tell(viewer, cursor);
  if (told === "unknown") throw new Error("a look does not tell what it was made for");
  return told;
}

const RETRY_AFTER = { headers: { "Retry-After": String(SILENCE_MS / 1000) } };

function tooMany(): Problem {
  return new Problem(
    "too_many_streams",
    `You have ${MOST_STREAMS.caller} event streams open. Close one; a session's stream tells of all its runs.`,
    RETRY_AFTER,
  );
}

function full(): Problem {
  return new Problem(
    "streams_full",
    "No more event streams can be open here just now. Read the run or the session instead, or try again shortly.",
    RETRY_AFTER,
  );
}
