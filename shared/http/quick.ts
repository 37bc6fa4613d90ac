import { newId } from "../platform/ids.ts";
import type { Service } from "./app.ts";
import type { Leases } from "../platform/leases.ts";
import type { Tabs } from "../platform/tabs.ts";
import { limitHeaders, takeLeased } from "./limits.ts";
import { putOnTab, settle, takesSettling } from "./tabs.ts";

/** Headers by which an answer depends on more than its URL, or which it has to repeat. */
const PARTICULAR = ["authorization", "cookie", "x-api-key", "origin", "if-none-match", "x-request-id"];

/** What such an answer takes. */
interface Memory extends Pick<Service, "cache" | "addressHashes" | "context"> {
  leases: Leases;
  tabs: Tabs;
  now: () => Date;
}

/**
 * Answers a plain read from the isolate's memory alone, if the answer is cached and the address is far from its limit as
 * far as this isolate knows; Redis is told of it afterwards. Null for every other request: the app answers it.
 */
export function quickAnswer(
  service: Memory,
  request: Request,
  waitUntil: (work: Promise<unknown>) => void,
): Response | null {
  const { cache, leases, tabs, now, addressHashes } = service;
  if (request.method !== "GET" || PARTICULAR.some((name) => request.headers.has(name))) return null;
  const at = now();
  const kept = cache.find(request.url, at.getTime());
  if (kept === null) return null;
  const { addressHash } = addressHashes(request.headers.get("cf-connecting-ip") ?? undefined);
  const leased = takeLeased(leases, "read", addressHash, at.getTime());
  const standing = leased ?? putOnTab(tabs, leases, addressHash, at.getTime());
  if (standing === null) return null;
  if (leased === null && takesSettling(tabs, at.getTime())) {
    const defer = (work: () => Promise<unknown>): void => waitUntil(work());
    waitUntil(settle(service.context({ requestId: newId(at), addressHash: null, defer }), tabs));
  }
  // Headers that are set on the answer itself cost half of those that are put together before it.
  const response = new Response(kept.body, { headers: kept.headers });
  const { headers } = response;
  for (const [name, value] of Object.entries(limitHeaders(standing))) headers.set(name, value);
  headers.set("X-Request-Id", newId(at));
  return response;
}
