import { expect, test } from "vitest";
import { newSecret, openSecret } from "../../shared/epochs/secret.ts";
import { sha256 } from "../../shared/platform/crypto.ts";
import type { Keyring } from "../../shared/platform/encryption.ts";

const keyring = (byte: number): Keyring => [{ name: `k${byte}`, secret: Buffer.alloc(32, byte).toString("base64") }];

test("a secret is decrypted once while it is among the last ones, and always by its own keys", () => {
  const keys = keyring(1);
  const { sealed, commitment } = newSecret(keys);
  const secret = openSecret(sealed, keys);
  expect(sha256(secret)).toBe(commitment);
  expect(openSecret(sealed, keys)).toBe(secret);
  expect(() => openSecret(sealed, keyring(2))).toThrow("k1");
  // Fifteen more leave it, as long as it is used in between; sixteen push it out.
  const others = (count: number) => {
    for (let n = 0; n < count; n += 1) openSecret(newSecret(keys).sealed, keys);
  };
  others(15);
  expect(openSecret(sealed, keys)).toBe(secret);
  others(15);
  expect(openSecret(sealed, keys)).toBe(secret);
  others(16);
  expect(openSecret(sealed, keys)).not.toBe(secret);
  expect(openSecret(sealed, keys)).toEqual(secret);
});
