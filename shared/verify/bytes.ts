/** Bytes that WebCrypto takes. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** The UTF-8 of a text. */
export function utf8(text: string): Bytes {
  return new TextEncoder().encode(text);
}

/** The text of UTF-8. @throws TypeError for bytes that are none. */
export function textOf(bytes: Bytes): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

/** The text of a file, which may be in the UTF-16 that Windows PowerShell writes by `>`: its first bytes tell. */
export function textOfFile(bytes: Uint8Array): string {
  const mark = bytes.subarray(0, 2).join();
  return new TextDecoder({ "255,254": "utf-16le", "254,255": "utf-16be" }[mark]).decode(bytes);
}

/** Pieces of bytes, one after another. */
export function concat(...pieces: readonly Bytes[]): Bytes {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** The SHA-256 over pieces of bytes, one after another. */
export async function sha256(...pieces: readonly Bytes[]): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", concat(...pieces)));
}

/** Bytes in lower-case hexadecimal. */
export function hex(bytes: Bytes): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The bytes of a text in hexadecimal; null for any other text. */
export function fromHex(text: string): Bytes | null {
  if (!/^(?:[0-9a-f]{2})*$/i.test(text)) return null;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** Bytes in base64, with padding. */
export function base64(bytes: Bytes): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** The bytes of a text in base64; null where it is not the one way to write them. */
export function fromBase64(text: string): Bytes | null {
  if (!/^[\w+/]*={0,2}$/.test(text) || text.includes("_") || text.length % 4 !== 0) return null;
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  return base64(bytes) === text ? bytes : null;
}

/** The bytes of a text in base64url without padding; null where it is not the one way to write them. */
export function fromBase64url(text: string): Bytes | null {
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) return null;
  const plain = text.replaceAll("-", "+").replaceAll("_", "/");
  return fromBase64(plain.padEnd(Math.ceil(plain.length / 4) * 4, "="));
}
