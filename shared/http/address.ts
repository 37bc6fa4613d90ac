import ipaddr from "ipaddr.js";
import { sha256 } from "../platform/crypto.ts";

/**
 * The caller's address as limits count it: an IPv4 address, or the /64 that an IPv6 caller was given whole.
 * Anything that is no address counts as one caller.
 */
export function countedAddress(given: string | undefined): string {
  if (given === undefined || !ipaddr.isValid(given)) return "unknown";
  const address = ipaddr.process(given);
  if (address.kind() === "ipv4") return address.toString();
  const parts = (address as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16));
  return `${parts.join(":")}::/64`;
}

const MAX_KNOWN = 10_000;
const known = new Map<string, string>();

/** `countedAddress`, hashed: what is stored or used as a key never shows the address. Busy callers' are remembered. */
export function addressHash(given: string | undefined): string {
  const remembered = known.get(given ?? "");
  if (remembered !== undefined) return remembered;
  const hash = sha256(`address:${countedAddress(given)}`).slice(0, 32);
  const oldest = known.size >= MAX_KNOWN ? known.keys().next().value : undefined;
  if (oldest !== undefined) known.delete(oldest);
  known.set(given ?? "", hash);
  return hash;
}
