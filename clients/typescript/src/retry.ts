import { typeOf } from "./problem.ts";

/** Sends one request. */
export type Send = (request: Request) => Promise<Response>;

/** How often and how long to try again. */
export interface Retries {
  /** How many times at most, after the first try. */
  retries: number;
  /** The longest pause in milliseconds that is waited out; an answer that asks for more is given back as it is. */
  longestPauseMs: number;
  /** Waits so many milliseconds; throws once the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const FIRST_PAUSE_MS = 250;
/** Pauses are longer by up to this at random, so that many clients don't come back at once. */
const JITTER_MS = 250;
const REPEATABLE = new Set(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]);
const NOTHING_BEHIND = new Set([502, 504]);

/**
 * Sends a request again where that is safe: after 429 with `Retry-After`; and, if a second time does no harm (a read, a
 * deletion, or anything with an idempotency key), after 503 with `Retry-After`, 502, 504 and when no answer came, or one in
 * JSON that broke off.
 */
export function retrying(send: Send, { retries, longestPauseMs, sleep }: Retries): Send {
  return async (request) => {
    for (let attempt = 0; ; attempt++) {
      if (attempt === retries) return whole(await send(request), request.signal);
      const harmless = REPEATABLE.has(request.method) || request.headers.has("idempotency-key");
      const backoff = FIRST_PAUSE_MS * 2 ** attempt;
      let pause = backoff;
      try {
        const response = await whole(await send(request.clone()), request.signal);
        const asked = await pauseOf(response, { harmless, repeated: attempt > 0, backoff });
        if (asked === null || asked > longestPauseMs) return response;
        await response.body?.cancel();
        pause = asked;
      } catch (error) {
        if (!harmless || request.signal.aborted) throw error;
      }
      await sleep(pause + Math.random() * JITTER_MS, request.signal);
    }
  };
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/;

/**
 * The answer, once all of its JSON is there: what breaks off later, nobody could ask for again. Streams and files are read as
 * they come. @throws Error where it breaks off
 */
async function whole(response: Response, signal: AbortSignal): Promise<Response> {
  if (response.body === null || !JSON_TYPE.test(typeOf(response))) return response;
  try {
    // Read by a copy, so that the answer keeps its address, and its body is still there to be taken.
    await response.clone().arrayBuffer();
  } catch (error) {
    if (signal.aborted) throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const why = cause instanceof Error ? cause.message || cause.name : String(cause);
    const of = response.url === "" ? "" : ` of ${response.url}`;
    throw new Error(`The answer${of} broke off: ${why}`, { cause: error });
  }
  return response;
}

/** How long to wait before the request is sent again, in milliseconds; null where the answer stands. */
async function pauseOf(
  response: Response,
  { harmless, repeated, backoff }: { harmless: boolean; repeated: boolean; backoff: number },
): Promise<number | null> {
  const { status } = response;
  const after = retryAfter(response.headers.get("retry-after"));
  if (status === 429) return after;
  if (!harmless) return null;
  if (status === 503) return after;
  if (NOTHING_BEHIND.has(status)) return after ?? backoff;
  // The try before this one, whose answer was lost, is still being worked on.
  if (status === 409 && repeated && (await codeOf(response)) === "idempotency_in_progress") return backoff;
  return null;
}

async function codeOf(response: Response): Promise<unknown> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  return typeof body === "object" && body !== null && "code" in body ? body.code : null;
}

/** The pause that a `Retry-After` asks for in milliseconds, be it in seconds or as a date; null without one. */
function retryAfter(header: string | null): number | null {
  if (header === null) return null;
  const pause = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(pause) ? null : Math.max(0, pause);
}

/** What is usual for somebody who waits: the pauses of a limit a minute are waited out. */
export const USUAL: Retries = { retries: 4, longestPauseMs: 60_000, sleep: pauseFor };

/** Waits by a timer. */
export function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal.addEventListener("abort", abort, { once: true });
  });
}
