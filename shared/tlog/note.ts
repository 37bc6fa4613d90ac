import { Buffer } from "node:buffer";
import { sha256 } from "./hash.ts";

/** The byte that stands for Ed25519 in signed notes. */
const ED25519 = 1;

/** A key that signs notes. */
export interface NoteKey {
  /** The key's name: for a log, its origin. */
  name: string;
  /** The 32 bytes of the public half. */
  publicKey: Uint8Array;
}

/**
 * The verifier key of a log in the form of signed notes, by which its readers pin it.
 * @example
 * verifierKey({ name: "example.org/log", publicKey }) // "example.org/log+6b3f0c2a+AZ…"
 */
export function verifierKey({ name, publicKey }: NoteKey): string {
  const key = Buffer.concat([Buffer.of(ED25519), publicKey]);
  return `${name}+${keyHash({ name, publicKey }).toString("hex")}+${key.toString("base64")}`;
}

/** The key of a verifier key's text. @throws RangeError for a text that is none, or not of Ed25519. */
export function parseVerifierKey(text: string): NoteKey {
  const [, name = "", hash = "", encoded = ""] = /^([^\s+]+)\+([0-9a-f]{8})\+([\w+/]+=*)$/.exec(text.trim()) ?? [];
  const [type, ...publicKey] = Buffer.from(encoded, "base64");
  const key = { name, publicKey: Uint8Array.from(publicKey) };
  if (type !== ED25519 || publicKey.length !== 32 || keyHash(key).toString("hex") !== hash) {
    throw new RangeError("not a verifier key of Ed25519: it looks like name+hash+key");
  }
  return key;
}

/** The line under a note that a key signed with this signature. */
export function signatureLine(key: NoteKey, signature: Uint8Array): string {
  return `\u2014 ${key.name} ${Buffer.concat([keyHash(key), signature]).toString("base64")}\n`;
}

/**
 * The text of a note, once it is signed by the key.
 * @throws RangeError for what is no note, and for one that the key did not sign.
 */
export async function openNote(note: string, key: NoteKey): Promise<string> {
  const end = note.lastIndexOf("\n\n") + 1;
  const text = note.slice(0, end);
  const lines = note.slice(end + 1).split("\n");
  const start = `\u2014 ${key.name} `;
  const signatures = lines
    .filter((line) => line.startsWith(start))
    .map((line) => Buffer.from(line.slice(start.length), "base64"))
    .filter((bytes) => bytes.subarray(0, 4).equals(keyHash(key)));
  const imported = await crypto.subtle.importKey("raw", Uint8Array.from(key.publicKey), "Ed25519", false, ["verify"]);
  const verified = await Promise.all(
    signatures.map((bytes) =>
      crypto.subtle.verify("Ed25519", imported, Uint8Array.from(bytes.subarray(4)), Buffer.from(text, "utf8")),
    ),
  );
  if (end === 0 || verified.length === 0 || verified.includes(false)) {
    throw new RangeError(`not a note that ${key.name} signed`);
  }
  return text;
}

function keyHash({ name, publicKey }: NoteKey): Buffer {
  return sha256(Buffer.from(`${name}\n`, "utf8"), Buffer.of(ED25519), publicKey).subarray(0, 4);
}
