import { Buffer } from "node:buffer";
import type { Context } from "../../platform/context.ts";
import { frontendSite } from "../../platform/frontend.ts";
import { Problem } from "../../platform/problem.ts";

/** The name that an authenticator shows for this service. */
export const RP_NAME = "Agent Screening";

/** The signatures that are taken, as COSE numbers them, the best first: Ed25519, ECDSA with P-256, RSA with SHA-256. */
export const ALGORITHMS = [-8, -7, -257];

/**
 * What an answer of an authenticator is held against: the site that it was given to, which is the frontend, and that the
 * authenticator knew its owner by a fingerprint, a face or a PIN. With the device itself that makes two factors.
 */
export function expected({ env }: Context) {
  const { origin, hostname } = frontendSite(env);
  return { expectedOrigin: origin, expectedRPID: hostname, requireUserVerification: true };
}

/** The account in the form in which authenticators keep it beside a passkey: the bytes of its id. */
export function userHandle(userId: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(userId.replaceAll("-", ""), "hex"));
}

/**
 * What `verify` makes of an answer, or null where it refuses it, which is then said in the log: the packages tell a wrong
 * answer by an error of no kind of its own. A problem of ours is thrown on.
 */
export async function judged<Verified extends { verified: boolean }>(
  ctx: Context,
  verify: () => Promise<Verified>,
): Promise<(Verified & { verified: true }) | null> {
  try {
    const result = await verify();
    return isVerified(result) ? result : null;
  } catch (error) {
    if (error instanceof Problem) throw error;
    ctx.log.info("an authenticator's answer was refused", { reason: error instanceof Error ? error.message : "" });
    return null;
  }
}

function isVerified<Verified extends { verified: boolean }>(result: Verified): result is Verified & { verified: true } {
  return result.verified;
}
