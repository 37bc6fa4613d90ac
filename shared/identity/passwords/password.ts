import { Buffer } from "node:buffer";
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import type { PasswordCost } from "../../platform/context.ts";
import { bodyProblem } from "../../platform/problem.ts";
import { MAX_UNITS } from "../schemas.ts";
import { COMMON_PASSWORDS } from "./common-passwords.ts";

const SALT_BYTES = 16;
const KEY_BYTES = 32;
const TOO_LONG = "Use at most 128 characters.";
const PHC = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Hashes a password by scrypt (RFC 7914) with a fresh salt, as a PHC string. */
export async function hashPassword(password: string, cost: PasswordCost): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt, cost, KEY_BYTES);
  return phc(cost, unpadded(salt), unpadded(key));
}

/** Whether a password matches a PHC string; `outdated` asks for a new hash with the parameters of `today`. */
export async function verifyPassword(
  password: string,
  hashed: string,
  today: PasswordCost,
): Promise<{ ok: boolean; outdated: boolean }> {
  const match = PHC.exec(hashed);
  if (match === null) return { ok: false, outdated: false };
  const [, ln, r, p, salt = "", hash = ""] = match;
  const cost: PasswordCost = { N: 2 ** Number(ln), r: Number(r), p: Number(p) };
  const expected = Buffer.from(hash, "base64");
  const actual = await derive(password, Buffer.from(salt, "base64"), cost, expected.length);
  const outdated = cost.N !== today.N || cost.r !== today.r || cost.p !== today.p;
  return { ok: timingSafeEqual(actual, expected), outdated };
}

/** A hash that no password matches, so that an unknown email costs the same time as a wrong password. */
export function hashOfNobody(cost: PasswordCost): string {
  return phc(cost, "A".repeat(22), "A".repeat(43));
}

function phc({ N, r, p }: PasswordCost, salt: string, key: string): string {
  return `$scrypt$ln=${Math.log2(N)},r=${r},p=${p}$${salt}$${key}`;
}

/** Throws `weak_password` unless the password meets the policy: 10 to 128 characters, not common, not the email's name. */
export function assertStrongPassword(password: string, email: string, pointer: string): void {
  const weak = (message: string): never => {
    throw bodyProblem("weak_password", pointer, message);
  };
  // What is longer could not be signed in with, and is not worth the work of being normalised.
  if (password.length > MAX_UNITS) weak(TOO_LONG);
  const normal = normalise(password);
  const length = Array.from(normal).length;
  const lower = normal.toLowerCase();
  const name = email.slice(0, email.lastIndexOf("@")).toLowerCase();
  if (length < 10) weak("Use at least 10 characters.");
  if (length > 128) weak(TOO_LONG);
  if (COMMON_PASSWORDS.has(lower)) weak("This password is among the most common ones. Choose another.");
  if (name.length >= 3 && lower.includes(name)) weak("Leave the name of your email address out of the password.");
}

/** NFKC, so that one password typed on two keyboards is one password (RFC 8265 section 4 asks for a stable form). */
function normalise(password: string): string {
  return password.normalize("NFKC");
}

function derive(password: string, salt: Uint8Array, { N, r, p }: PasswordCost, bytes: number): Promise<Buffer> {
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r };
  return new Promise((resolve, reject) => {
    scrypt(normalise(password), salt, bytes, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
