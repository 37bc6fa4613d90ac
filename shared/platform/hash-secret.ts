import { Buffer } from "node:buffer";
import { hkdfSync } from "node:crypto";
import * as z from "zod";
import { readJwkSet, setOf } from "./jwk-set.ts";

const PrivateJwk = z.object({ d: z.string().regex(/^[\w-]{43}$/) });

/** The private half of a JWK; null where the text is none. */
function privateHalf(jwk: string): Buffer | null {
  try {
    return Buffer.from(PrivateJwk.parse(JSON.parse(jwk)).d, "base64url");
  } catch {
    // The parser's own message quotes its input.
    return null;
  }
}

/** The setting that the secrets of hashes are drawn from, as it is validated. */
export const LOG_KEY_SETTING = z.string().refine((text) => !("faults" in readJwkSet(setOf(text))), {
  error: "must be a private JWK of Ed25519 (npm run keys)",
});

/**
 * The secret for keyed hashes of one purpose, drawn by HKDF from the log's key: the one key that is never replaced. Under
 * any other, what is counted and remembered by its hash would begin anew when keys are rotated.
 */
export function hashSecret(env: { LOG_SIGNING_KEY: string }, purpose: string): Uint8Array {
  const key = privateHalf(env.LOG_SIGNING_KEY);
  if (key === null) throw new Error("LOG_SIGNING_KEY: is not a private JWK");
  return new Uint8Array(hkdfSync("sha256", key, "", purpose, 32));
}
