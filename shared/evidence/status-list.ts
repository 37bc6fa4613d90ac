import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { didWeb } from "./did.ts";
import { CONTEXTS, type Credential } from "./statement.ts";

/** Credentials that one list tells the status of: the least that Bitstring Status List v1.0 allows, for group privacy. */
export const STATUS_LIST_SIZE = 131_072;

/** How long a verifier may go by a copy of a list, in seconds. */
export const STATUS_LIST_TTL_S = 300;

/** How long a list is valid, so that nobody can show one from before a revocation for ever. */
const VALID_MS = 24 * 60 * 60 * 1000;

const PURPOSE = "revocation";

/** Where a credential says that its status is found (Bitstring Status List v1.0, 2.1). */
export interface StatusEntry {
  type: "BitstringStatusListEntry";
  statusPurpose: typeof PURPOSE;
  /** The place of its bit in the list, in base 10. */
  statusListIndex: string;
  /** The address of the list. */
  statusListCredential: string;
}

/** A list of what has been revoked, as a credential of its own (Bitstring Status List v1.0, 2.2). */
export interface StatusListCredential extends Credential {
  validUntil: string;
  credentialSubject: {
    id: string;
    type: "BitstringStatusList";
    statusPurpose: typeof PURPOSE;
    encodedList: string;
    /** Milliseconds. */
    ttl: number;
  };
}

/**
 * The status entry of the credential with this place among all, from 0: list n has those from n × `STATUS_LIST_SIZE`.
 * @example
 * statusEntry("https://example.org", 131_073)
 * // { statusListIndex: "1", statusListCredential: "https://example.org/api/v1/credentials/status/1", … }
 */
export function statusEntry(baseUrl: string, index: number): StatusEntry {
  if (!Number.isSafeInteger(index) || index < 0) throw new RangeError("status_index is not an integer from 0");
  return {
    type: "BitstringStatusListEntry",
    statusPurpose: PURPOSE,
    statusListIndex: String(index % STATUS_LIST_SIZE),
    statusListCredential: urlOf(baseUrl, Math.floor(index / STATUS_LIST_SIZE)),
  };
}

/**
 * The credential of list `list`, to be secured by `signStatement`.
 *
 * @param revoked the places in this list whose credentials are revoked, in any order
 * @param validFrom from when on it is valid, for a day
 * @throws RangeError for a place that is not in the list.
 * @example
 * buildStatusList("https://example.org", 0, [9], validFrom) // the credential at place 9 is revoked
 */
export function buildStatusList(
  baseUrl: string,
  list: number,
  revoked: Iterable<number>,
  validFrom: Date,
): StatusListCredential {
  const url = urlOf(baseUrl, list);
  return {
    "@context": [CONTEXTS[0]],
    id: url,
    type: ["VerifiableCredential", "BitstringStatusListCredential"],
    issuer: didWeb(baseUrl),
    validFrom: validFrom.toISOString(),
    validUntil: new Date(validFrom.getTime() + VALID_MS).toISOString(),
    credentialSubject: {
      id: `${url}#list`,
      type: "BitstringStatusList",
      statusPurpose: PURPOSE,
      encodedList: encodeBitstring(revoked),
      ttl: STATUS_LIST_TTL_S * 1000,
    },
  };
}

/**
 * The bitstring of a list with the bits at `places` set, place 0 the left-most: GZIP (RFC 1952), then Multibase base64url
 * without padding (Bitstring Status List v1.0, 3.3).
 *
 * @throws RangeError for a place that is not in the list.
 */
export function encodeBitstring(places: Iterable<number>): string {
  const bits = Buffer.alloc(STATUS_LIST_SIZE / 8);
  for (const place of places) {
    if (!Number.isInteger(place)) throw new RangeError("a place in a status list is an integer");
    const byte = Math.floor(place / 8);
    bits.writeUInt8(bits.readUInt8(byte) | (0x80 >> (place % 8)), byte);
  }
  return `u${gzipSync(bits).toString("base64url")}`;
}

function urlOf(baseUrl: string, list: number): string {
  return new URL(`/api/v1/credentials/status/${list}`, baseUrl).href;
}
