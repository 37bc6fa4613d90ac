import { getDomain } from "tldts";
import { isLoopback } from "../platform/outbound/policy.ts";

/**
 * Whether two URLs lie on one registrable domain, by the public suffix list with its private section: two customers of
 * one hosting platform do not. Loopback, which only development lets be called, lies with loopback.
 */
export function sameSite(one: URL, other: URL): boolean {
  if (isLoopback(one) || isLoopback(other)) return isLoopback(one) && isLoopback(other);
  return siteOf(one) === siteOf(other);
}

function siteOf({ hostname }: URL): string {
  return getDomain(hostname, { allowPrivateDomains: true, extractHostname: false }) ?? hostname;
}
