import { Buffer } from "node:buffer";

/** How far a hash has come: what was absorbed may be any number of pieces, in any number of processes. */
export interface Hashing {
  /** The eight words of the state, after all whole blocks. */
  words: Uint32Array;
  /** The bytes of the block that is not whole yet. */
  rest: Uint8Array;
  /** How many bytes were absorbed. */
  length: number;
}

const BLOCK = 64;
const FIRST = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
const ROUNDS = new Uint32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]);

/** SHA-256 (FIPS 180-4) before any byte. Node's own keeps its state to itself, so that it can't go on in another process. */
export function beginHash(): Hashing {
  return { words: Uint32Array.from(FIRST), rest: new Uint8Array(), length: 0 };
}

/** The hash with more bytes; the one before stays as it was. */
export function absorb(hashing: Hashing, bytes: Uint8Array): Hashing {
  const words = hashing.words.slice();
  const all = hashing.rest.length === 0 ? bytes : Buffer.concat([hashing.rest, bytes]);
  const whole = all.length - (all.length % BLOCK);
  compress(words, all.subarray(0, whole));
  return { words, rest: all.slice(whole), length: hashing.length + bytes.length };
}

/** The digest of all that was absorbed, in lower-case hex. */
export function digestOf({ words, rest, length }: Hashing): string {
  const end = Buffer.alloc(rest.length < BLOCK - 8 ? BLOCK : 2 * BLOCK);
  end.set(rest);
  end[rest.length] = 0x80;
  end.writeBigUInt64BE(8n * BigInt(length), end.length - 8);
  const last = words.slice();
  compress(last, end);
  return bytesOf(last).toString("hex");
}

/** The hash as a text without blanks, of at most 160 characters. */
export function saveHash({ words, rest, length }: Hashing): string {
  return `${length}.${bytesOf(words).toString("base64url")}.${Buffer.from(rest).toString("base64url")}`;
}

/** The hash that `saveHash` made a text of. @throws RangeError for another text. */
export function loadHash(text: string): Hashing {
  const [, count = "", state = "", rest = ""] = /^(\d+)\.([\w-]{43})\.([\w-]*)$/.exec(text) ?? [];
  const hashing = {
    words: wordsOf(Buffer.from(state, "base64url")),
    rest: Buffer.from(rest, "base64url"),
    length: Number(count),
  };
  if (hashing.words.length !== 8 || hashing.length % BLOCK !== hashing.rest.length)
    throw new RangeError("this is no saved hash");
  return hashing;
}

function bytesOf(words: Uint32Array): Buffer {
  const bytes = Buffer.alloc(4 * words.length);
  for (const [at, word] of words.entries()) bytes.writeUInt32BE(word, 4 * at);
  return bytes;
}

function wordsOf(bytes: Buffer): Uint32Array {
  return Uint32Array.from({ length: bytes.length / 4 }, (_none, at) => bytes.readUInt32BE(4 * at));
}

const rotated = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** Section 6.2.2, over whole blocks. */
function compress(state: Uint32Array, blocks: Uint8Array): void {
  const view = new DataView(blocks.buffer, blocks.byteOffset, blocks.byteLength);
  const w = new Uint32Array(BLOCK);
  const word = (at: number): number => w[at] ?? 0;
  for (let start = 0; start < blocks.length; start += BLOCK) {
    for (let t = 0; t < 16; t += 1) w[t] = view.getUint32(start + 4 * t);
    for (let t = 16; t < BLOCK; t += 1) {
      const [two, fifteen] = [word(t - 2), word(t - 15)];
      const s0 = rotated(fifteen, 7) ^ rotated(fifteen, 18) ^ (fifteen >>> 3);
      const s1 = rotated(two, 17) ^ rotated(two, 19) ^ (two >>> 10);
      w[t] = word(t - 16) + s0 + word(t - 7) + s1;
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    for (let t = 0; t < BLOCK; t += 1) {
      const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (ROUNDS[t] ?? 0) + word(t)) | 0;
      const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    for (const [at, grown] of [a, b, c, d, e, f, g, h].entries()) state[at] = (state[at] ?? 0) + grown;
  }
}
