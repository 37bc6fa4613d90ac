import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import * as z from "zod";

/** A key for secrets at rest: 32 bytes in base64. */
export interface EncryptionKey {
  /** What the ciphertexts made with it carry; null for the single key of `DATA_ENCRYPTION_KEY`, which has no name. */
  name: string | null;
  secret: string;
}

/** The keys for secrets at rest: the first encrypts, all decrypt. */
export type Keyring = readonly [EncryptionKey, ...EncryptionKey[]];

const KEY = /^[A-Za-z0-9+/]{43}=$/;
const NAME = /^[A-Za-z0-9_-]{1,32}$/;
const HOW = "32 bytes in base64 (npm run keys)";

const named = z.string().transform((text, context) => {
  const keys = text.split(",").map((item): EncryptionKey => {
    const colon = item.indexOf(":");
    return { name: item.slice(0, Math.max(0, colon)).trim(), secret: item.slice(colon + 1).trim() };
  });
  const complain = (message: string) => context.addIssue({ code: "custom", message });
  for (const [index, { name, secret }] of keys.entries()) {
    if (!NAME.test(name ?? "") || !KEY.test(secret))
      complain(`entry ${index + 1} must be name:key, the key ${HOW}, the name of letters, digits, - and _`);
  }
  if (new Set(keys.map(({ name }) => name)).size < keys.length)
    complain("a name is used twice: give the newer key another");
  return keys;
});

/** The settings that hold the keys, of which at least one must be set. */
export const ENCRYPTION_SETTINGS = {
  DATA_ENCRYPTION_KEY: z.string().regex(KEY, `must be ${HOW}`).optional(),
  DATA_ENCRYPTION_KEYS: named.optional(),
};

const settings = z.object(ENCRYPTION_SETTINGS);

/** The keys that these settings hold, the single one last; null where both are missing. */
export function keyringOf({
  DATA_ENCRYPTION_KEY: single,
  DATA_ENCRYPTION_KEYS: several = [],
}: z.output<typeof settings>) {
  const [first, ...rest] = [...several, ...(single === undefined ? [] : [{ name: null, secret: single }])];
  return first === undefined ? null : ([first, ...rest] satisfies Keyring);
}

/** Reads the keys for a script from its environment. Throws an Error that says what is wrong, without any value. */
export function parseKeyring(raw: Record<string, unknown>): Keyring {
  const result = settings.safeParse(raw);
  if (!result.success)
    throw new Error(result.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("\n"));
  const keys = keyringOf(result.data);
  if (keys === null) throw new Error("Set DATA_ENCRYPTION_KEYS, or DATA_ENCRYPTION_KEY.");
  return keys;
}

/**
 * Encrypts text at rest by AES-256-GCM under the first key; the result is the key's name, a dot, and base64 of nonce, tag
 * and ciphertext, without name and dot for the key that has none. `purpose` is bound as additional data, so that a value
 * can't be moved to another column.
 */
export function encrypt(text: string, [{ name, secret }]: Keyring, purpose: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", Buffer.from(secret, "base64"), nonce).setAAD(Buffer.from(purpose));
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  const sealed = Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64");
  return name === null ? sealed : `${name}.${sealed}`;
}

/** The name of the key that a text was encrypted with; null for the one without. */
export function keyNameOf(sealed: string): string | null {
  const dot = sealed.indexOf(".");
  return dot === -1 ? null : sealed.slice(0, dot);
}

/**
 * Undoes `encrypt`, under whichever key the text names. Where that does not open it, or it names none, it is tried under each:
 * a key may have been given its name since, or another one, and its name to another key, and another isolate may know that
 * already. Throws when the key is gone, or purpose or text are not what it was made with.
 */
export function decrypt(sealed: string, keys: Keyring, purpose: string): string {
  const name = keyNameOf(sealed);
  const meant = keys.filter((key) => key.name === name);
  const bytes = Buffer.from(name === null ? sealed : sealed.slice(name.length + 1), "base64");
  let failure: unknown;
  for (const { secret } of [...meant, ...keys.toReversed().filter((key) => key.name !== name)]) {
    try {
      return open(bytes, secret, purpose);
    } catch (error) {
      failure ??= error;
    }
  }
  throw name === null || meant.length > 0 ? failure : new Error(`The key ${name} is not in DATA_ENCRYPTION_KEYS.`);
}

function open(bytes: Buffer, secret: string, purpose: string): string {
  const decipher = createDecipheriv("aes-256-gcm", Buffer.from(secret, "base64"), bytes.subarray(0, 12));
  decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
}
