import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import type { Look, Sighting, Update } from "../platform/streams.ts";

/** A server-sent event; a reader that lost the connection goes on after the `id`. */
export interface ServerEvent {
  event: string;
  data: unknown;
  id?: string;
}

/** What happened to a subject after a cursor: the events, the cursor behind them, and whether more can come. */
export interface News {
  events: ServerEvent[];
  cursor: string;
  ended: boolean;
}

/** Resolves after so many milliseconds, or at once when the signal aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<unknown>;

/** The chunks of an event stream, as they are written. An abort ends it, and frees its place even before the first chunk. */
export type EventStream = (signal: AbortSignal) => AsyncGenerator<string>;

/** How long one stream lasts; the reader then connects again, and its credentials are checked anew. */
const LONGEST_MS = 600_000;
const RETRY_MS = 1000;
/** The longest silence: only by writing does the runtime find out that the reader is gone. */
const COMMENT_MS = 5000;
const COMMENT = ":\n\n";

/**
 * Follows what `look` finds at `subject` after `cursor` as a stream of the HTML standard (9.2 Server-sent events), as
 * `principal` may see it at each look. All streams of a subject in this isolate share their looks: the first is due after a
 * second, and while nothing happens the interval grows to 15 seconds. The stream ends after the last event, after ten
 * minutes, when the caller may no longer see the subject, or when its session or key was revoked or rotated or has expired; a
 * look that fails breaks it off. The first look happens before this returns: null where the caller may not see the subject, `seen` where the last event
 * has been sent already. Throws `too_many_streams`, `streams_full`.
 */
export async function follow(
  ctx: Pick<Context, "now" | "streams" | "addressHash">,
  { subject, principal, look }: { subject: string; principal: Principal; look: Look },
  cursor: string,
  sleep: Sleep = pause,
): Promise<EventStream | "seen" | null> {
  const now = (): number => ctx.now().getTime();
  const account = viewerId(principal);
  const caller = account === null ? `address:${ctx.addressHash}` : `account:${account}`;
  const stream = ctx.streams.open({ caller, viewer: readerOf(principal), subject }, now());
  const opening = await stream.first(cursor, look).catch((error: unknown) => {
    stream.close();
    throw error;
  });
  if (opening === "hidden" || (opening.ended && !opening.hasNews)) {
    stream.close();
    return opening === "hidden" ? null : "seen";
  }
  const known = opening;

  /** The rest of what is to be read; returns false where it was taken away. */
  function* rest(): Generator<string, boolean> {
    for (;;) {
      const piece = stream.read(now());
      if (piece === null || piece === "") return piece !== null;
      yield piece;
    }
  }

  async function* pieces(signal: AbortSignal): AsyncGenerator<string> {
    const startedAt = now();
    try {
      const first = stream.read(now());
      if (first === null) return;
      yield `retry: ${RETRY_MS}\n\n${first}`;
      for (let last = known; yield* rest(); ) {
        if (last.ended || signal.aborted || now() - startedAt >= LONGEST_MS || !stream.hold(now())) return;
        const wait = stream.wait(now());
        if (wait > 0) {
          const parts = Math.ceil(wait / COMMENT_MS);
          await sleep(Math.ceil(wait / parts), signal);
          if (parts > 1 && !signal.aborted) yield COMMENT;
          continue;
        }
        const next = await stream.next(last.cursor, now, look);
        if (next === "hidden") return;
        if (!next.hasNews) yield COMMENT;
        last = next;
      }
    } finally {
      stream.close();
    }
  }

  return (signal) => {
    signal.addEventListener("abort", () => stream.close());
    return pieces(signal);
  };
}

/** The key in `rights` of a caller without an account. */
export const NOBODY = "nobody";

/**
 * What a caller is called in looks and `rights`: the id of the account, or of the workspace of a key, and that of the session
 * or key, with which the stream ends, as it does with the key's hash; null without an account.
 */
function readerOf(principal: Principal): string | null {
  if (principal.kind === "anonymous") return null;
  const { userId } = principal;
  return principal.kind === "session"
    ? `${userId}/${principal.sessionId}`
    : `${userId}/${principal.keyId}/${principal.keyHash}`;
}

/**
 * What a look found for `viewers`: `rights` has those who may see the subject, and whether they are its owners or members.
 * `newsFor` returns what happened after a cursor for either kind; null where the look does not reach back that far. What
 * many readers get is made once.
 */
export function sighting(
  viewers: readonly (string | null)[],
  rights: Readonly<Record<string, boolean>>,
  newsFor: (own: boolean, cursor: string) => News | null,
): Sighting {
  const made = new Map<string, Update | "unknown">();
  return {
    updateFor(viewer, cursor) {
      if (!viewers.includes(viewer)) return "unknown";
      const own = rights[viewer ?? NOBODY];
      if (own === undefined) return "hidden";
      const key = `${own} ${cursor}`;
      const known = made.get(key) ?? toUpdate(newsFor(own, cursor));
      made.set(key, known);
      return known;
    },
  };
}

function toUpdate(news: News | null): Update | "unknown" {
  if (news === null) return "unknown";
  const { events, cursor, ended } = news;
  return { text: events.map(written).join(""), cursor, hasNews: events.length > 0, ended };
}

/** An event as it goes over the wire; JSON has no line ends of its own. */
function written({ event, data, id }: ServerEvent): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Waits by the runtime's timer, which an abort clears. */
export const pause: Sleep = (ms, signal) =>
  new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, signal.aborted ? 0 : ms);
    signal.addEventListener("abort", end);
  });
