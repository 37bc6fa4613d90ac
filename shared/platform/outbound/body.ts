/**
 * Reads a body to its end, or gives up and cancels it as soon as it is longer than `maxBytes`.
 * Fetch has undone any Content-Encoding by then, so a compressed bomb counts by what it unpacks to, chunk by chunk.
 *
 * @returns the bytes, none for a missing body, or null when there were too many.
 * @throws what the stream fails with.
 */
export async function readCapped(body: Response["body"], maxBytes: number): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) return null;
    chunks.push(chunk);
  }

  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}
