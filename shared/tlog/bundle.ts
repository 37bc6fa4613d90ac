import { Buffer } from "node:buffer";

/** The most bytes that an entry may have: a bundle gives its length in two bytes. */
const MAX_ENTRY = 65_535;

/** A bundle of entries: each behind its length in two bytes, the higher one first. @throws RangeError for one too long. */
export function encodeBundle(entries: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    entries.flatMap((entry) => {
      if (entry.length > MAX_ENTRY) throw new RangeError(`an entry has ${entry.length} bytes`);
      return [Buffer.of(entry.length >> 8, entry.length & 255), entry];
    }),
  );
}

/** The entries of a bundle. @throws RangeError for bytes that are none. */
export function decodeBundle(bundle: Buffer): Buffer[] {
  const entries: Buffer[] = [];
  for (let at = 0; at < bundle.length; ) {
    const start = at + 2;
    at = start + bundle.readUInt16BE(at);
    if (at > bundle.length) throw new RangeError("a bundle ends within an entry");
    entries.push(bundle.subarray(start, at));
  }
  return entries;
}
