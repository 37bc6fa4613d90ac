import { givenAddress } from "./address.ts";
import { newId } from "../platform/ids.ts";
import type { Service } from "./app.ts";
import type { Leases } from "../platform/leases.ts";
import type { Tabs } from "../platform/tabs.ts";
import { leaseOf, limitItem, takeLeased } from "./limits.ts";
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
  const { headers } = request;
  if (request.method !== "GET" || isParticular(headers)) return null;
  const at = now();
  const time = at.getTime();
  const kept = cache.find(request.url, time);
  if (kept === null) return null;
  const { addressHash } = addressHashes(givenAddress((name) => headers.get(name)));
  const lease = leaseOf(leases, "read", addressHash);
  let window = takeLeased(lease, "read", time);
  if (window === null) {
    window = putOnTab(tabs, lease, addressHash, time);
    if (window === null) return null;
    if (takesSettling(tabs, time)) {
      const defer = (work: () => Promise<unknown>): void => waitUntil(work());
      waitUntil(settle(service.context({ requestId: newId(at), addressHash: null, defer }), tabs));
    }
  }
  // Written into the headers that are kept, and copied with them: on the answer each would cost twice as much.
  const { plain } = kept;
  plain.set("RateLimit", limitItem(window));
  plain.set("X-Request-Id", newId(at));
  return new Response(kept.body, { headers: plain });
}

function isParticular(headers: Headers): boolean {
  for (const name of PARTICULAR) if (headers.has(name)) return true;
  return false;
}
