import { newId } from "../platform/ids.ts";
import type { Service } from "./app.ts";
import type { Leases } from "../platform/leases.ts";
import { limitHeaders, takeLeased } from "./limits.ts";

/** Headers by which an answer depends on more than its URL, or which it has to repeat. */
const PARTICULAR = ["authorization", "cookie", "x-api-key", "origin", "if-none-match", "x-request-id"];

/**
 * Answers a plain read from the isolate's memory alone, if the answer is cached and the address has a lease of requests
 * that Redis has counted already. Null for every other request: the app answers it.
 */
export function quickAnswer(
  { cache, leases, now, addressHashes }: Pick<Service, "cache" | "addressHashes"> & { leases: Leases; now: () => Date },
  request: Request,
): Response | null {
  if (request.method !== "GET" || PARTICULAR.some((name) => request.headers.has(name))) return null;
  const at = now();
  const kept = cache.find(request.url, at.getTime());
  if (kept === null) return null;
  const { addressHash } = addressHashes(request.headers.get("cf-connecting-ip") ?? undefined);
  const standing = takeLeased(leases, "read", addressHash, at.getTime());
  if (standing === null) return null;
  const headers = new Headers(kept.headers);
  for (const [name, value] of Object.entries(limitHeaders(standing))) headers.set(name, value);
  headers.set("X-Request-Id", newId(at));
  return new Response(kept.body, { headers });
}
