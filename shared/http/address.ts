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

/** `countedAddress`, hashed: what is stored or used as a key never shows the address. */
export function addressHash(given: string | undefined): string {
  return sha256(`address:${countedAddress(given)}`).slice(0, 32);
}
