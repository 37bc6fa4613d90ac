import { Problem } from "./problem.ts";

/**
 * The most event streams that may be open in one isolate: of one caller (an account or address), and of all. What all
 * together have still to read may have 16 Mi characters, an eighth of what an isolate has in bytes: of a long session, 1,000
 * first texts alone would be more than all of it.
 */
export const MOST_STREAMS = { caller: 5, all: 1000, unread: 16 * 1024 * 1024 } as const;
/** A reader gets so many characters at once: what the runtime holds for one that has stopped reading. */
const PIECE = 64 * 1024;

/**
 * A stream that has shown no sign of life for so long is gone, and its place is free: the runtime may drop a request
 * without notifying its code. This is longer than the longest wait of a stream and of the database together.
 */
const SILENCE_MS = 20_000;
/** Milliseconds between looks at one subject: they grow while nothing happens, and are short again after something did. */
const PAUSE_MS = { first: 1000, longest: 15_000 };
const PAUSE_GROWTH = 1.5;
/** How long others wait for a look that is under way before one of them looks too; its request may have been dropped. */
const PATIENCE_MS = 2000;
const RECHECK_MS = 100;

/** Where a reader stands: the cursor after what is sent, whether anything happened, and whether that was the last. */
export interface Standing {
  cursor: string;
  hasNews: boolean;
  ended: boolean;
}

/** What is sent to a reader, and where it stands then. */
export interface Update extends Standing {
  text: string;
}

/**
 * What one look at a subject found, for several viewers. It is plain data and outlives the request that looked: workerd
 * does not let a request wait for work of another one, but it may read what the other has found.
 */
export interface Sighting {
  /**
   * The update for a `viewer` who knows everything up to `cursor`: `hidden` if the viewer may not see the subject,
   * `unknown` if this look did not find that out.
   */
  updateFor(viewer: string | null, cursor: string): Update | "hidden" | "unknown";
}

/** Looks at a subject for these viewers: for all that happened after `cursor`, and for who may see it. */
export type Look = (viewers: readonly (string | null)[], cursor: string) => Promise<Sighting>;

/** Whose stream it is, for limits (`caller`) and for rights (`viewer`: an account by one credential), and what it is about. */
export interface Reader {
  caller: string;
  viewer: string | null;
  subject: string;
}

/** An open stream's place among the others. */
export interface OpenStream {
  /**
   * The first look of a stream, for this one alone, since no other stream knows where its reader stands; `read` has its
   * text. Throws `streams_full` where too much is unread already.
   */
  first(cursor: string, look: Look): Promise<Standing | "hidden">;
  /**
   * The next piece of what a look found, which is held only until then; "" where all is read, null where the place was
   * given up meanwhile, and with it the rest. Says that the stream is alive.
   */
  read(now: number): string | null;
  /** Says that the stream is alive, which it must do every few seconds; false if its place was given up and is taken. */
  hold(now: number): boolean;
  /** Milliseconds until there may be something new; 0 if `next` has something to do. */
  wait(now: number): number;
  /**
   * What came after `cursor`, for `read`: as another stream's look found it meanwhile, else by a look for the whole subject.
   * Throws as `first` does.
   */
  next(cursor: string, now: () => number, look: Look): Promise<Standing | "hidden">;
  /** Gives up the place; does nothing the second time. */
  close(): void;
}

/** The event streams that are open in an isolate. */
export interface Streams {
  /** Takes a place. Throws `too_many_streams` (429) for the caller's sixth, `streams_full` (503) when all are taken. */
  open(reader: Reader, now: number): OpenStream;
}

interface Place extends Reader {
  heldAt: number;
  /** When the look ended that the stream's latest update came from, by the count of `tick`. */
  updatedAt: number;
  /** What is still to be read, from a character on; `lost` where it was given up with the place. */
  unread: { update: Update; from: number } | "lost" | null;
}

interface Subject {
  pause: number;
  dueAt: number;
  lookingUntil: number;
  latest: { begun: number; ended: number; sighting: Sighting } | null;
}

/** The streams of a new isolate: none is open yet. */
export function createStreams(): Streams {
  const places = new Set<Place>();
  const subjects = new Map<string, Subject>();
  /** How many have still to read each update: many share one. */
  const readers = new Map<Update, number>();
  let unread = 0;
  let ticks = 0;
  const tick = (): number => (ticks += 1);

  function leave(place: Place): void {
    if (drop(place)) place.unread = "lost";
    if (!places.delete(place)) return;
    if (!others(place).some(({ subject }) => subject === place.subject)) subjects.delete(place.subject);
  }

  function keep(place: Place, update: Update): Standing {
    const { text, ...standing } = update;
    drop(place);
    if (text === "") return standing;
    if (!places.has(place)) {
      place.unread = "lost";
      return standing;
    }
    const sharing = readers.get(update) ?? 0;
    if (sharing === 0) {
      if (unread + text.length > MOST_STREAMS.unread) throw full();
      unread += text.length;
    }
    readers.set(update, sharing + 1);
    place.unread = { update, from: 0 };
    return standing;
  }

  /** Returns whether there was anything. */
  function drop(place: Place): boolean {
    if (place.unread === null || place.unread === "lost") return false;
    const { update } = place.unread;
    place.unread = null;
    const left = (readers.get(update) ?? 1) - 1;
    if (left > 0) readers.set(update, left);
    else {
      readers.delete(update);
      unread -= update.text.length;
    }
    return true;
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

  /** The latest look, if it began after the stream's latest update: then what it found is certainly newer. */
  function newer(place: Place): Subject["latest"] {
    const { latest } = subjectOf(place);
    return latest !== null && latest.begun > place.updatedAt ? latest : null;
  }

  /** What a look found for all is held no longer than until the last of them has it. */
  function forget(place: Place): void {
    const subject = subjects.get(place.subject);
    const isRead = others(place).every((one) => one.subject !== place.subject || newer(one) === null);
    if (subject !== undefined && isRead) subject.latest = null;
  }

  async function lookForAll(place: Place, cursor: string, now: () => number, look: Look): Promise<Standing | "hidden"> {
    const subject = subjectOf(place);
    const viewers = others(place).filter((other) => other.subject === place.subject);
    const begun = tick();
    subject.lookingUntil = now() + PATIENCE_MS;
    let hasNews = false;
    try {
      const sighting = await look([...new Set([place, ...viewers].map(({ viewer }) => viewer))], cursor);
      const ended = tick();
      if (subject.latest === null || subject.latest.begun < begun) subject.latest = { begun, ended, sighting };
      place.updatedAt = ended;
      forget(place);
      const update = ownUpdate(place, cursor, sighting);
      hasNews = update !== "hidden" && update.hasNews;
      return update === "hidden" ? update : keep(place, update);
    } finally {
      // Also after a failure, so that the other streams do not all run into it at once.
      subject.lookingUntil = 0;
      subject.pause = hasNews ? PAUSE_MS.first : Math.min(Math.round(subject.pause * PAUSE_GROWTH), PAUSE_MS.longest);
      subject.dueAt = now() + subject.pause;
    }
  }

  return {
    open(reader, openedAt) {
      const place: Place = { ...reader, heldAt: openedAt, updatedAt: 0, unread: null };
      enter(place);
      subjectOf(place);
      return {
        async first(cursor, look) {
          const sighting = await look([place.viewer], cursor);
          place.updatedAt = tick();
          const update = ownUpdate(place, cursor, sighting);
          return update === "hidden" ? update : keep(place, update);
        },
        read(now) {
          place.heldAt = now;
          if (place.unread === "lost") return null;
          if (place.unread === null) return "";
          const { update, from } = place.unread;
          const piece = wholeCharacters(update.text.slice(from, from + PIECE));
          if (from + piece.length < update.text.length) place.unread.from += piece.length;
          else drop(place);
          return piece;
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
          const update = latest?.sighting.updateFor(place.viewer, cursor) ?? "unknown";
          if (latest === null || update === "unknown") return lookForAll(place, cursor, now, look);
          place.updatedAt = latest.ended;
          const standing = update === "hidden" ? update : keep(place, update);
          forget(place);
          return standing;
        },
        close: () => leave(place),
      };
    },
  };
}

/** The text without the first half of a character at its end, whose second half is still to come. */
function wholeCharacters(text: string): string {
  return text.length > 1 && /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}

/** The update for a stream from its own look. */
function ownUpdate({ viewer }: Reader, cursor: string, sighting: Sighting): Update | "hidden" {
  const update = sighting.updateFor(viewer, cursor);
  if (update === "unknown") throw new Error("a look has no update for the stream that made it");
  return update;
}

const RETRY_AFTER = { headers: { "Retry-After": String(SILENCE_MS / 1000) } };

function tooMany(): Problem {
  return new Problem(
    "too_many_streams",
    `You have ${MOST_STREAMS.caller} event streams open. Close one; a session's stream covers all of its runs.`,
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
