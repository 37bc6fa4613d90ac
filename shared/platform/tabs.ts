import type { Lease } from "./leases.ts";

/** Requests that were answered before they were counted. */
export interface Tabs {
  /** Who made them; the leases say how many they are. */
  readonly open: Map<string, Lease>;
  /** Since when a request has been seeing to it that they are counted, in Unix milliseconds; null while none does. */
  settlingSince: number | null;
}

/** No tabs yet. */
export function createTabs(): Tabs {
  return { open: new Map(), settlingSince: null };
}
