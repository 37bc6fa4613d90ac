import { Buffer } from "node:buffer";
import { canonicalBytes } from "../platform/canonical.ts";

const SALT_BYTES = 32;

/** A salted hash that binds to bytes without telling them. */
export interface Commitment {
  /** 32 random bytes; who has them and the committed bytes can prove what was committed. */
  salt: Uint8Array;
  /** SHA-256 of the salt followed by the bytes, in lower-case hex. */
  digest: string;
}

/**
 * Commits to bytes: SHA-256(salt || bytes). Without a salt a random one is drawn; with the salt of an earlier
 * commitment the digest comes out the same exactly when the bytes are the same.
 *
 * @throws RangeError when the salt is not 32 bytes, since then bytes could move between salt and content.
 * @example
 * const { salt, digest } = await commit(bytes);
 * (await commit(bytes, salt)).digest === digest // true
 */
export async function commit(bytes: Uint8Array, salt = newSalt()): Promise<Commitment> {
  if (salt.length !== SALT_BYTES) throw new RangeError(`a salt is ${SALT_BYTES} bytes`);
  const digest = await crypto.subtle.digest("SHA-256", Buffer.concat([salt, bytes]));
  return { salt, digest: Buffer.from(digest).toString("hex") };
}

/**
 * The bytes that stand for a request to an agent: its RFC 8785 form in UTF-8 without `callback`, whose token is a secret
 * and no part of what was asked.
 *
 * @throws Error when a string holds a lone surrogate, which RFC 8785 cannot express.
 * @example
 * requestBytes({ b: 1, callback: { token: "run_…" } }) // the bytes of {"b":1}
 */
export function requestBytes(request: object): Uint8Array {
  return canonicalBytes({ ...request, callback: undefined });
}

/** A fresh salt for a commitment: 32 random bytes. */
export function newSalt(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(SALT_BYTES));
}
