import { createHmac } from "node:crypto";
import ipaddr from "ipaddr.js";
import type { Env } from "../platform/env.ts";
import { hashSecret } from "../platform/hash-secret.ts";
import { createLru } from "../platform/lru.ts";

/** The address that all Workers of other zones have, and the header that says whose a Worker is: nobody else can set it. */
const OF_WORKERS = "2a06:98c0:3600::103";
const WORKER = "worker of ";

/**
 * A caller's address as the platform tells it by these headers. Workers share one, so that it is told apart by their zone:
 * https://developers.cloudflare.com/fundamentals/reference/http-headers/, "CF-Connecting-IP in Worker subrequests"
 */
export function givenAddress(header: (name: string) => string | null | undefined): string | undefined {
  const address = header("cf-connecting-ip") ?? undefined;
  const zone = address === OF_WORKERS ? (header("cf-worker") ?? "") : "";
  return zone === "" ? address : WORKER + zone.toLowerCase();
}

/**
 * The caller's address as limits count it: an IPv4 address, or the /64 network of an IPv6 address, since a caller is
 * usually assigned the whole of it; of Workers their zone. Everything that is not an address counts as one caller.
 */
function countedAddress(given: string): string {
  if (given.startsWith(WORKER)) return given;
  if (!ipaddr.isValid(given)) return "unknown";
  const address = ipaddr.process(given);
  if (address instanceof ipaddr.IPv4) return address.toString();
  const parts = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${parts.join(":")}::/64`;
}

/** The network that an address is in, as sign-ins are told apart: its /24, or the /48 of an IPv6 address. */
function networkOf(given: string): string {
  if (given.startsWith(WORKER)) return given;
  if (!ipaddr.isValid(given)) return "unknown";
  const address = ipaddr.process(given);
  if (address instanceof ipaddr.IPv4) return address.octets.slice(0, 3).join(".");
  const parts = address.parts.slice(0, 3).map((part) => part.toString(16));
  return `${parts.join(":")}::/48`;
}

/** A caller's address as it is stored and used as a key; the address can't be recovered from it. */
export interface AddressHashes {
  addressHash: string;
  /** The same under yesterday's secret, for what was counted or kept then and is still in force. */
  addressHashBefore: string;
  /** The network that the address is in, for what never leaves this process as it is. */
  network(): string;
}

const DAY_MS = 86_400_000;
const MAX_KNOWN = 10_000;

/**
 * Makes the hasher of callers' addresses: HMAC-SHA-256 over `countedAddress` under a secret (`hashSecret`) that changes
 * every day (UTC), and with nothing else: no rotation of keys changes a hash. Those of up to 10,000 addresses are kept for
 * the day.
 */
export function addressHasher(
  env: Pick<Env, "LOG_SIGNING_KEY">,
  now: () => Date,
): (given: string | undefined) => AddressHashes {
  const secretOf = (day: number): Uint8Array => hashSecret(env, `address of day ${day}`);
  let today = Number.NaN;
  let secrets: [Uint8Array, Uint8Array] = [new Uint8Array(), new Uint8Array()];
  let known = createLru<string, AddressHashes>(MAX_KNOWN);
  return (given = "") => {
    const day = Math.floor(now().getTime() / DAY_MS);
    if (day !== today) {
      known = createLru(MAX_KNOWN);
      today = day;
      secrets = [secretOf(day), secretOf(day - 1)];
    }
    const remembered = known.get(given);
    if (remembered !== undefined) return remembered;
    const address = countedAddress(given);
    const [secret, secretBefore] = secrets;
    const hash = (by: Uint8Array) => createHmac("sha256", by).update(address).digest("hex").slice(0, 32);
    let before: string | undefined;
    const hashes = {
      addressHash: hash(secret),
      // Most requests need no more than the other.
      get addressHashBefore() {
        return (before ??= hash(secretBefore));
      },
      network: () => networkOf(given),
    };
    known.add(given, hashes);
    return hashes;
  };
}
