import { createHmac } from "node:crypto";

/** One attempt, as its receiver sees it. */
export interface Signed {
  /** Unique per attempt. */
  deliveryId: string;
  /** Unix time in seconds. */
  timestamp: number;
  body: Uint8Array;
}

/**
 * The signature headers of an attempt: HMAC-SHA256 keyed with the secret, in lower-case hex. v2 is over the timestamp, a
 * dot, the delivery id, a dot, and the exact bytes of the body; the legacy one covers only the body.
 */
export function signatures(secret: string, { deliveryId, timestamp, body }: Signed): Record<string, string> {
  const hmac = () => createHmac("sha256", secret);
  return {
    "X-Service-Signature-V2": `v2=${hmac().update(`${timestamp}.${deliveryId}.`).update(body).digest("hex")}`,
    "X-Service-Signature": `sha256=${hmac().update(body).digest("hex")}`,
  };
}
