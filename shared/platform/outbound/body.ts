/** How much room a body of unknown length is given at first. */
const FIRST_BYTES = 16 * 1024;

/**
 * Reads the body of an answer to its end, or gives up and cancels it as soon as it is longer than `maxBytes`.
 * Fetch has undone any Content-Encoding by then, so a compressed bomb counts by what it unpacks to, chunk by chunk. A body
 * that comes as it is, of a length that the answer names, is read at once: each chunk would wait for its turn in a busy
 * isolate, and so make the other side look slow.
 *
 * @returns the bytes, none for a missing body, or null when there were too many.
 * @throws what the stream fails with.
 */
export async function readCapped(response: Response, maxBytes: number): Promise<Uint8Array | null> {
  const length = lengthOf(response.headers);
  // HTTP itself ends such a body at its length.
  if (length !== null && length <= maxBytes) return new Uint8Array(await response.arrayBuffer());
  let bytes = new Uint8Array(Math.min(FIRST_BYTES, maxBytes));
  let size = 0;
  for await (const chunk of response.body ?? []) {
    const end = size + chunk.byteLength;
    if (end > maxBytes) return null;
    if (end > bytes.byteLength) {
      const larger = new Uint8Array(Math.min(Math.max(end, 2 * bytes.byteLength), maxBytes));
      larger.set(bytes);
      bytes = larger;
    }
    // No chunk is kept: workerd gives each, were it a single byte, a buffer of 4 KiB.
    bytes.set(chunk, size);
    size = end;
  }
  return bytes.slice(0, size);
}

/**
 * How many bytes the body has, where it is not packed and the answer says so; else null. Where it is chunked, workerd reads
 * it to its last chunk, whatever length is named besides (RFC 9112 section 6.3).
 */
function lengthOf(headers: Headers): number | null {
  const length = headers.get("content-length") ?? "";
  const isAsItIs = !headers.has("content-encoding") && !headers.has("transfer-encoding");
  return isAsItIs && /^\d{1,15}$/.test(length) ? Number(length) : null;
}
