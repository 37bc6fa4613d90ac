import { Buffer } from "node:buffer";
import { createHmac, randomBytes } from "node:crypto";
import { safeEqual } from "../../platform/crypto.ts";

/** How long one code is shown, in seconds. */
const STEP_SECONDS = 30;
/** How many digits a code has. */
const DIGITS = 6;
/** As long as the hash, as RFC 4226 section 4 advises. */
const SECRET_BYTES = 20;
/** RFC 4648 base32, the form in which authenticator apps take secrets. */
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** `bytes` random bytes as base32 without padding; a multiple of 5 leaves nothing to pad. */
export function randomBase32(bytes = SECRET_BYTES): string {
  let value = 0;
  let bits = 0;
  let text = "";
  for (const byte of randomBytes(bytes)) {
    value = ((value << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET.charAt((value >> (bits - 5)) & 31);
  }
  return text;
}

/** The bytes of a base32 text as `randomBase32` makes it. Throws an Error for any other character. */
function fromBase32(text: string): Buffer {
  const bytes: number[] = [];
  let value = 0;
  let bits = 0;
  for (const character of text) {
    const five = ALPHABET.indexOf(character);
    if (five === -1) throw new Error("not base32");
    value = ((value << 5) | five) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 255);
  }
  return Buffer.from(bytes);
}

/** The code of a step of time by RFC 6238 with SHA-1: RFC 4226's HOTP over the step. `secret` is base32. */
export function codeAt(secret: string, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", fromBase32(secret)).update(counter).digest();
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, "0");
}

/** The step of time in which a moment lies: 30 seconds each, since 1970. */
export function stepAt(time: Date): number {
  return Math.floor(time.getTime() / 1000 / STEP_SECONDS);
}

/**
 * The latest step whose code this is, of the present one and its two neighbours, since clocks differ and typing takes time;
 * null where it is none of theirs, or of a step up to `last`.
 */
export function stepOf(secret: string, code: string, now: Date, last: number | null): number | null {
  const present = stepAt(now);
  const fitting = [present + 1, present, present - 1].filter((step) => safeEqual(codeAt(secret, step), code));
  return fitting.find((step) => last === null || step > last) ?? null;
}

/** The address from which an authenticator app takes a secret, as a QR code or a link. */
export function otpauthUrl(secret: string, issuer: string, account: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  const query = new URLSearchParams({
    secret,
    issuer,
    algorithm: "SHA1",
    digits: `${DIGITS}`,
    period: `${STEP_SECONDS}`,
  });
  // Apps read a + as it stands.
  return `otpauth://totp/${label}?${query.toString().replaceAll("+", "%20")}`;
}
