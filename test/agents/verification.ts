import {
  SIGNATURES_DIRECTORY_TYPE,
  type SignableRequest,
  verifyRequest,
} from "../../shared/platform/outbound/signature.ts";
import * as z from "zod";

const CLOCK_SKEW_S = 5;
/** A signature is good for at most 60 s; a nonce is kept as long as its signature could still pass. */
const NONCE_MEMORY_MS = (60 + 2 * CLOCK_SKEW_S) * 1000;
const KEYS_MAX_AGE_MS = 60_000;
const FETCH_MS = 5000;

const KeySet = z.object({
  keys: z.array(z.object({ kty: z.literal("OKP"), crv: z.literal("Ed25519"), x: z.string() })),
});

/** The service's keys could not be fetched, so that nothing can be said about a signature. */
export class KeysUnavailable extends Error {}

/** Tells the service's own calls from anybody else's: null for a genuine new call, else why it is none. */
export type Verifier = (request: SignableRequest) => Promise<string | null>;

/**
 * A verifier of calls signed by the service at `service`, by RFC 9421 and the keys that it publishes. A call that comes
 * a second time is refused, too. The keys are fetched at the first call, and again, at most once a minute, when a
 * signature does not fit them, so that a new key is found without a restart.
 * @throws KeysUnavailable (from the verifier) when the service does not give its keys
 */
export function createVerifier({ service, now }: { service: string; now: () => Date }): Verifier {
  const seen = new Map<string, number>();
  let known: { keys: z.output<typeof KeySet>; at: number } | undefined;

  async function keys(maxAgeMs: number): Promise<z.output<typeof KeySet>> {
    if (known === undefined || now().getTime() - known.at >= maxAgeMs) {
      known = { keys: await fetchKeys(service), at: now().getTime() };
    }
    return known.keys;
  }

  return async (request) => {
    const options = { now: now(), clockSkewS: CLOCK_SKEW_S };
    let verdict = await verifyRequest(request, await keys(Number.POSITIVE_INFINITY), options);
    if (!verdict.ok) verdict = await verifyRequest(request, await keys(KEYS_MAX_AGE_MS), options);
    if (!verdict.ok) return verdict.reason;
    const at = now().getTime();
    for (const [nonce, until] of seen) if (until <= at) seen.delete(nonce);
    if (seen.has(verdict.nonce)) return "The request is a replay: its nonce has been used";
    seen.set(verdict.nonce, at + NONCE_MEMORY_MS);
    return null;
  };
}

async function fetchKeys(service: string): Promise<z.output<typeof KeySet>> {
  try {
    const response = await fetch(new URL("/.well-known/http-message-signatures-directory", service), {
      headers: { accept: SIGNATURES_DIRECTORY_TYPE },
      signal: AbortSignal.timeout(FETCH_MS),
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return KeySet.parse(await response.json());
  } catch (cause) {
    throw new KeysUnavailable(`The keys of ${service} could not be fetched`, { cause });
  }
}
