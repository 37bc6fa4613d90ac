import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

/** How many bytes a hash has. */
export const HASH_BYTES = 32;

/**
 * The hash of an entry as a leaf of the tree (RFC 6962, section 2.1).
 * @example
 * leafHash(Buffer.from("entry"))
 */
export function leafHash(entry: Uint8Array): Buffer {
  return sha256(Buffer.of(0), entry);
}

/** The hash of a node of the tree over the hashes of its two halves (RFC 6962, section 2.1). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return sha256(Buffer.of(1), left, right);
}

/** The SHA-256 of bytes, one piece after another. */
export function sha256(...pieces: readonly Uint8Array[]): Buffer {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest();
}
