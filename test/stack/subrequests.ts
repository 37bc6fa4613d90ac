import { AsyncLocalStorage } from "node:async_hooks";
import { WORKERS } from "./limits.ts";

/** One invocation of a Worker: a request, a delivery or a trigger, with all that it leaves behind. */
interface Invocation {
  readonly what: string;
  readonly limit: number;
  sent: number;
  /** Requests that wait for the headers of their answers. */
  open: number;
  /** Lets one go that waits for such a place, the first to come first. */
  readonly waiting: Set<() => void>;
}

/** Says of each invocation what it was, and how many requests it has sent. */
export interface SubrequestMeter {
  /** What an invocation may send from now on; one under way keeps its own. */
  limit: number;
  readonly invocations: readonly Readonly<Pick<Invocation, "what" | "sent">>[];
  /** Does `work`, with all that it leaves behind, as one invocation: beyond the limit `fetch` rejects as the platform's does. */
  invoke<T>(what: string, work: () => T): T;
  /** Forgets the invocations so far. */
  reset(): void;
}

const current = new AsyncLocalStorage<Invocation>();
let isWatched = false;

/** Watches the global `fetch` from the first call on; outside an invocation it is what it was. */
export function watchFetch(): void {
  if (isWatched) return;
  isWatched = true;
  const { fetch } = globalThis;
  globalThis.fetch = (input, init) => {
    const invocation = current.getStore();
    if (invocation === undefined) return fetch(input, init);
    if (invocation.sent >= invocation.limit) return Promise.reject(new Error("Too many subrequests."));
    invocation.sent += 1;
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    return inTurn(invocation, signal, () => fetch(input, init));
  };
}

/** Sends a request when fewer than six wait for the headers of their answers. One that is called off waits no longer. */
async function inTurn(
  invocation: Invocation,
  signal: AbortSignal | undefined,
  send: () => Promise<Response>,
): Promise<Response> {
  if (invocation.open < WORKERS.connections) invocation.open += 1;
  else await turn(invocation.waiting, signal);
  try {
    return await send();
  } finally {
    const [next] = invocation.waiting;
    if (next === undefined) invocation.open -= 1;
    else {
      // Its place passes on at once, so that no request of this moment comes between.
      invocation.waiting.delete(next);
      next();
    }
  }
}

/** Resolves with the place of a request that has its headers. @throws the signal's reason if that aborts first. */
async function turn(waiting: Set<() => void>, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.add(resolve);
  signal?.addEventListener("abort", () => resolve(), { once: true });
  if (signal?.aborted === true) resolve();
  await promise;
  if (waiting.delete(resolve)) signal?.throwIfAborted();
}

function startInvocation(what: string, limit: number): Invocation {
  return { what, limit, sent: 0, open: 0, waiting: new Set() };
}

/** Does `work`, with all that it leaves behind, as one invocation that may send so many requests. */
export function invoke<T>(what: string, limit: number, work: () => T): T {
  return current.run(startInvocation(what, limit), work);
}

/** A meter whose invocations may send as much as on a paid plan, or up to `limit`. */
export function meterSubrequests(limit: number = WORKERS.subrequests.paid): SubrequestMeter {
  watchFetch();
  const invocations: Invocation[] = [];
  return {
    limit,
    invocations,
    invoke(what, work) {
      const invocation = startInvocation(what, this.limit);
      invocations.push(invocation);
      return current.run(invocation, work);
    },
    reset: () => void invocations.splice(0),
  };
}
