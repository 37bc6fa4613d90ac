import { randomInt } from "node:crypto";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 37;
const CHECKSUM_LENGTH = 6;
const BODY = new RegExp(`^[${ALPHABET}]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/** A new credential of ours: `prefix`, 37 random base62 characters (220 bits) and a checksum of 6. */
export function newCredential(prefix: string): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
  return `${prefix}${random}${checksum(random)}`;
}

/** Whether a text can be a credential of this prefix: form and checksum, without any look-up. */
export function isCredential(prefix: string, text: string): boolean {
  if (!text.startsWith(prefix)) return false;
  const body = text.slice(prefix.length);
  return BODY.test(body) && checksum(body.slice(0, RANDOM_LENGTH)) === body.slice(RANDOM_LENGTH);
}

/** CRC-32 (ISO-HDLC) of ASCII text, bit by bit: for so few bytes a table, or zlib with its streams, would not pay. */
function crc32(text: string): number {
  let crc = ~0;
  for (let at = 0; at < text.length; at += 1) {
    crc ^= text.charCodeAt(at);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** CRC-32 of the random part in base62: not a secret, it only spares look-ups of mistyped credentials. */
function checksum(random: string): string {
  let value = crc32(random);
  let text = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    text = ALPHABET.charAt(value % ALPHABET.length) + text;
    value = Math.floor(value / ALPHABET.length);
  }
  return text;
}
