import { createLru, type Lru } from "./lru.ts";

/** Requests taken from an address's window in advance, to be let through without asking Redis again. */
export interface Lease {
  left: number;
  /** Requests that were let through and are still to be counted. */
  owed: number;
  /** What remains of the window once the lease is used up. */
  remaining: number;
  /** Whether a request is under way to fill it; those beside it count by themselves. */
  filling: boolean;
  /** When the window starts anew, when what is left of the lease is forfeited, and the last request; Unix milliseconds. */
  resetAt: number;
  expiresAt: number;
  lastAt: number;
  /** Milliseconds from one request to the next, of late. */
  pace: number;
}

/** The leases that an isolate holds, by limit class and caller. */
export type Leases = Lru<string, Lease>;

const MOST = 10_000;

/** No leases yet; there will be 10,000 at most. */
export function createLeases(): Leases {
  return createLru(MOST);
}
