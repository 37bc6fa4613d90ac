import type { Context } from "../../platform/context.ts";
import { sha256 } from "../../platform/crypto.ts";

/** How long the browser's other pages wait for the one that takes the session up again, in milliseconds. */
const CLAIM_MS = 10_000;

/**
 * Whether this request is the one to replace a browser's refresh credential. Pages that are opened side by side, as when a
 * browser starts again, all come with the same one, and a second use would end the session as stolen. Where Redis does not
 * answer every request may.
 */
export async function claimResumption(ctx: Context, token: string): Promise<boolean> {
  try {
    return (await ctx.redis.set(`resume:${sha256(token)}`, 1, { nx: true, px: CLAIM_MS })) === "OK";
  } catch (error) {
    ctx.log.warn("resumption unclaimed", { reason: error instanceof Error ? error.name : "unknown" });
    return true;
  }
}
