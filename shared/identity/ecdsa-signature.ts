/** Tags of DER (X.690, section 8). */
const SEQUENCE = 0x30;
const INTEGER = 0x02;

/**
 * The two integers of an ECDSA signature as authenticators write it (RFC 3279, section 2.2.3), each in the bytes that stand
 * there: big-endian, with a zero before a byte that would make it negative. Throws for anything else, and for what follows.
 *
 * @example ecdsaSignature(Uint8Array.of(0x30, 6, 2, 1, 7, 2, 1, 9)) // { r: Uint8Array.of(7), s: Uint8Array.of(9) }
 */
export function ecdsaSignature(der: Uint8Array): { r: Uint8Array; s: Uint8Array } {
  const [sequence, behind] = element(der, SEQUENCE);
  const [r, second] = element(sequence, INTEGER);
  const [s, third] = element(second, INTEGER);
  if (behind.length + third.length > 0) throw new Error("more than one ECDSA signature");
  return { r, s };
}

/** The content of the element that the bytes begin with, and what follows it. Signatures of P-521 take a second byte of length. */
function element(bytes: Uint8Array, tag: number): [content: Uint8Array, rest: Uint8Array] {
  const isLong = bytes[1] === 0x81;
  const from = isLong ? 3 : 2;
  const length = bytes[from - 1] ?? 0;
  const end = from + length;
  const isWhole = bytes[0] === tag && length > 0 && length > 0x7f === isLong && end <= bytes.length;
  if (!isWhole) throw new Error("not an ECDSA signature in DER");
  return [bytes.subarray(from, end), bytes.subarray(end)];
}
