import type { Bytes } from "./bytes.ts";
import { Refused } from "./trail.ts";

/** Whether Ed25519 verifies. @throws Refused where this runtime knows no Ed25519, or the key is none of it. */
export async function isSigned(publicKey: Bytes, signature: Bytes, message: Bytes): Promise<boolean> {
  const key = await crypto.subtle.importKey("raw", publicKey, "Ed25519", false, ["verify"]).catch((error: unknown) => {
    const unknown = error instanceof Error && error.name === "NotSupportedError";
    throw new Refused(
      unknown ? "This browser knows no Ed25519; take a newer one, or the command line." : "The key is none of Ed25519.",
    );
  });
  return crypto.subtle.verify("Ed25519", key, signature, message);
}
