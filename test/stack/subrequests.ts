import { AsyncLocalStorage } from "node:async_hooks";

/**
 * How many requests of its own one invocation of a Worker may send, by plan: each `fetch`, whether it is awaited or left
 * to `waitUntil`. From https://developers.cloudflare.com/workers/platform/limits/#subrequests; a paid plan may set its
 * limit otherwise.
 */
export const SUBREQUESTS = { free: 50, paid: 10_000 } as const;

interface Invocation {
  readonly what: string;
  readonly limit: number;
  sent: number;
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

/** Watches `fetch` of this process from the first call on; outside an invocation it is what it was. */
function watch(): void {
  if (isWatched) return;
  isWatched = true;
  const { fetch } = globalThis;
  globalThis.fetch = (input, init) => {
    const invocation = current.getStore();
    if (invocation === undefined) return fetch(input, init);
    if (invocation.sent >= invocation.limit) return Promise.reject(new Error("Too many subrequests."));
    invocation.sent += 1;
    return fetch(input, init);
  };
}

/** A meter whose invocations may send as much as on a paid plan, or up to `limit`. */
export function meterSubrequests(limit: number = SUBREQUESTS.paid): SubrequestMeter {
  watch();
  const invocations: Invocation[] = [];
  return {
    limit,
    invocations,
    invoke(what, work) {
      const invocation: Invocation = { what, limit: this.limit, sent: 0 };
      invocations.push(invocation);
      return current.run(invocation, work);
    },
    reset: () => void invocations.splice(0),
  };
}
