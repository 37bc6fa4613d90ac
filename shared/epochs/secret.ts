import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { type SQL, sql } from "drizzle-orm";
import { epochs } from "../db/schema/index.ts";
import { sha256 } from "../platform/crypto.ts";
import { decrypt, encrypt, type Keyring } from "../platform/encryption.ts";
import { createRecent } from "../platform/recent.ts";

/** What the ciphertexts of epoch secrets are bound to. */
export const EPOCH = "epoch";

/** A fresh secret of 32 random bytes as it is stored, and its commitment: SHA-256 over the bytes, in lower-case hex. */
export function newSecret(keys: Keyring): { sealed: string; commitment: string } {
  const secret = randomBytes(32);
  return { sealed: encrypt(secret.toString("hex"), keys, EPOCH), commitment: sha256(secret) };
}

/** How many secrets stay open: those of today and yesterday, of both kinds, and of sessions that began before. */
const MOST_OPEN = 16;
const opened = createRecent<Keyring, Buffer>(MOST_OPEN);

/**
 * The 32 bytes of a stored secret, which nobody may write to; throws when its key is gone. The last ones are remembered
 * along with their keys: every run is minted twice from the few secrets of the day.
 */
export function openSecret(sealed: string, keys: Keyring): Buffer {
  return opened.get(keys, sealed, () => Buffer.from(decrypt(sealed, keys, EPOCH), "hex"));
}

/** SQL: the stored secret of the epoch of this kind and name; null unless the log had its commitment in time. */
export function usableSecret(kind: SQL, name: SQL): SQL {
  return sql`(select e.sealed from ${epochs} e where e.kind = ${kind} and e.name = ${name} and e.is_timely)`;
}
