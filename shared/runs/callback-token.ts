import { createHmac } from "node:crypto";
import { randomToken, safeEqual } from "../platform/crypto.ts";
import { hashSecret } from "../platform/hash-secret.ts";

/** What every callback token begins with. */
export const CALLBACK_TOKEN_PREFIX = "run_";

const SHAPE = /^run_([\w-]{32})([\w-]{22})$/;
const RANDOM_BYTES = 24;
const MAC_BYTES = 16;

/**
 * A token that an agent reports on one run with: 192 random bits, and the start of an HMAC-SHA-256 over them and the run's
 * id. Only the hash that is kept with the run makes it valid; the HMAC lets a request be counted as its token's before
 * anything is read (`isCallbackTokenOf`).
 * @example
 * newCallbackToken(env, run) // "run_q3…", different each time
 */
export function newCallbackToken(env: { LOG_SIGNING_KEY: string }, runId: string): string {
  const random = randomToken(RANDOM_BYTES);
  return `${CALLBACK_TOKEN_PREFIX}${random}${macOf(env, runId, random)}`;
}

/** Whether the service made this token for this run, whatever has become of either since. */
export function isCallbackTokenOf(env: { LOG_SIGNING_KEY: string }, runId: string, token: string): boolean {
  const [, random, mac] = SHAPE.exec(token) ?? [];
  return random !== undefined && mac !== undefined && safeEqual(mac, macOf(env, runId, random));
}

function macOf(env: { LOG_SIGNING_KEY: string }, runId: string, random: string): string {
  const mac = createHmac("sha256", hashSecret(env, "callback tokens")).update(`${runId.toLowerCase()} ${random}`);
  return mac.digest().subarray(0, MAC_BYTES).toString("base64url");
}
