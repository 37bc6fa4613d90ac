import type { Context } from "../platform/context.ts";

/** A server-sent event; `id` is where a reader that lost the connection goes on. */
export interface ServerEvent {
  event: string;
  data: unknown;
  id?: string;
}

/** What one look at the database found after a cursor: the events, the cursor behind them, and whether more can come. */
export interface Look<C> {
  events: ServerEvent[];
  cursor: C;
  ended: boolean;
}

/** Resolves after so many milliseconds, or at once when the signal aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<unknown>;

/** The pieces of an event stream, as they come. */
export type EventStream = (signal: AbortSignal) => AsyncGenerator<string>;

/** Milliseconds between looks: they grow while nothing happens, and are short again after something did. */
const PAUSE_MS = { first: 1000, longest: 3000 };
const PAUSE_GROWTH = 1.5;
/** How long one stream lasts; a reader then connects again, and its credentials are looked at anew. */
const LONGEST_MS = 600_000;
const RETRY_MS = 1000;

/**
 * Follows what `look` finds after `cursor` as a stream of the HTML standard (9.2 Server-sent events): looks again after 1
 * to 3 seconds, and ends after the last event, after ten minutes, or when `look` gives null because the thing is no longer
 * the caller's to see. A failing look breaks the stream off. The first look happens here: null where it gives null; `seen`
 * where it finds that the reader has had the last event.
 */
export async function follow<C>(
  ctx: Pick<Context, "now">,
  look: (after: C) => Promise<Look<C> | null>,
  cursor: C,
  sleep: Sleep = pause,
): Promise<EventStream | "seen" | null> {
  const first = await look(cursor);
  if (first === null) return null;
  if (first.ended && first.events.length === 0) return "seen";
  return async function* (signal) {
    const startedAt = ctx.now().getTime();
    let wait = PAUSE_MS.first;
    yield `retry: ${RETRY_MS}\n\n${first.events.map(written).join("")}`;
    for (let last = first; !last.ended; ) {
      await sleep(wait, signal);
      if (signal.aborted || ctx.now().getTime() - startedAt >= LONGEST_MS) return;
      const next = await look(last.cursor);
      if (next === null) return;
      const news = next.events.length > 0;
      wait = news ? PAUSE_MS.first : Math.min(wait * PAUSE_GROWTH, PAUSE_MS.longest);
      // Where nothing happened a comment: only by writing does the runtime find out that the reader is gone.
      yield news ? next.events.map(written).join("") : ":\n\n";
      last = next;
    }
  };
}

/** An event as it goes over the wire; JSON has no line ends of its own. */
function written({ event, data, id }: ServerEvent): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Waits by the runtime's timer, which an abort takes down. */
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
