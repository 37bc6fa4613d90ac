import { createHmac } from "node:crypto";

const MIN_KEY_BYTES = 32;

/**
 * The 32-byte seed of one template at one version of a suite: HMAC-SHA-256 (RFC 2104) over the JSON array
 * of a domain label, suite, version and template. Without the key, no seed reveals anything about another.
 * RangeError when the key is shorter than 32 bytes.
 */
export function templateSeed(
  secretKey: Uint8Array,
  suiteSlug: string,
  suiteVersion: number,
  templateId: string,
): Uint8Array {
  if (secretKey.length < MIN_KEY_BYTES) throw new RangeError(`the secret key needs at least ${MIN_KEY_BYTES} bytes`);
  const message = JSON.stringify(["secret-template", suiteSlug, suiteVersion, templateId]);
  return new Uint8Array(createHmac("sha256", secretKey).update(message).digest());
}
