import { Buffer } from "node:buffer";
import canonicalize from "canonicalize";

/**
 * The RFC 8785 (JCS) form of a JSON value, in UTF-8.
 *
 * @throws Error for what has no such form: a lone surrogate, a number that is not finite, a value that is not JSON.
 * @example
 * canonicalBytes({ b: 1, a: [] }).toString() // {"a":[],"b":1}
 */
export function canonicalBytes(value: unknown): Buffer {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("not a JSON value");
  return Buffer.from(text, "utf8");
}
