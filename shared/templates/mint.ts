import { createHash, createHmac } from "node:crypto";
import { canonicalBytes } from "../platform/canonical.ts";
import { randomFrom } from "./random.ts";
import type { CoreTemplate, Instance } from "./types.ts";

const BYTES = 32;

/**
 * The instance that a run gets in the epoch of this secret: the same three always give the same one. `runId` is the
 * run's id as it is published, in lower case. RangeError when the secret has not 32 bytes.
 */
export function mintInstance(
  template: Pick<CoreTemplate, "id" | "version" | "mint">,
  secret: Uint8Array,
  runId: string,
): Instance {
  return template.mint(randomFrom(instanceSeed(template, secret, runId)));
}

/** The 32 bytes that an instance is drawn from. RangeError when the secret has not 32 bytes. */
export function instanceSeed(
  { id, version }: Pick<CoreTemplate, "id" | "version">,
  secret: Uint8Array,
  runId: string,
): Uint8Array {
  return derive(secret, ["instance", id, version, runId]);
}

/** The 32-byte salt of a run's instance commitment. RangeError when the secret has not 32 bytes. */
export function instanceSalt(secret: Uint8Array, runId: string): Uint8Array {
  return derive(secret, ["salt", runId]);
}

/** The 32-byte salt of a minted run's request commitment. RangeError when the secret has not 32 bytes. */
export function requestSalt(secret: Uint8Array, runId: string): Uint8Array {
  return derive(secret, ["request-salt", runId]);
}

/**
 * SHA-256 over the salt and the instance's RFC 8785 form, in lower-case hex. RangeError when the salt has not 32 bytes,
 * since then bytes could move between salt and instance.
 */
export function instanceCommitment(instance: Instance, salt: Uint8Array): string {
  if (salt.length !== BYTES) throw new RangeError(`a salt has ${BYTES} bytes`);
  return createHash("sha256").update(salt).update(canonicalBytes(instance)).digest("hex");
}

/** Of so many runs of a session that follow each other, one is a canary. */
const CANARY_EVERY = 10;

/**
 * Whether a run is a canary, which is asked the sample of its task: one in every ten that follow each other in a session, at
 * a place drawn from the secret. `number` counts the session's runs from 0, task by task in the order of its plan. So a task
 * that is asked from two to ten times has an ordinary run besides. RangeError when the secret has not 32 bytes.
 */
export function isCanary(secret: Uint8Array, sessionId: string, number: number): boolean {
  const seed = derive(secret, ["canary", sessionId, Math.floor(number / CANARY_EVERY)]);
  return randomFrom(seed).int(0, CANARY_EVERY - 1) === number % CANARY_EVERY;
}

/** HMAC-SHA-256 under the secret over the RFC 8785 form of the parts. */
function derive(secret: Uint8Array, parts: (string | number)[]): Uint8Array {
  if (secret.length !== BYTES) throw new RangeError(`an epoch secret has ${BYTES} bytes`);
  return new Uint8Array(createHmac("sha256", secret).update(canonicalBytes(parts)).digest());
}
