import type { Context } from "../../platform/context.ts";
import { sha256 } from "../../platform/crypto.ts";
import { Problem } from "../../platform/problem.ts";
import { signInUnavailable } from "../lockout.ts";

/** How long an authenticator may take to answer. */
export const CHALLENGE_SECONDS = 300;

/** Whom a challenge of a sign-in is for: whoever can answer it. */
export const ANYBODY = "anybody";

/**
 * Remembers that a challenge was given, and for whom: the id of an account that is to get a passkey, or ANYBODY. Throws
 * `dependency_unavailable` without Redis.
 */
export async function giveChallenge(ctx: Context, challenge: string, to: string): Promise<void> {
  await ctx.redis.set(keyOf(challenge, to), 1, { ex: CHALLENGE_SECONDS }).catch(unavailable);
}

/**
 * Uses up a challenge: of any number of answers to it, side by side or one after another, one gets by, whatever then becomes
 * of it. Throws `invalid_token` for all others and where it is over, unknown, or was given to somebody else;
 * `dependency_unavailable` without Redis.
 */
export async function spendChallenge(ctx: Context, challenge: string, to: string): Promise<true> {
  const given = await ctx.redis.del(keyOf(challenge, to)).catch(unavailable);
  if (given === 1) return true;
  throw new Problem(
    "invalid_token",
    "This challenge is unknown, over, or was answered before: it holds for five minutes and once. Ask for new options.",
  );
}

/** The name has whom it is for, so that an answer of somebody else's finds nothing and spends nothing. */
function keyOf(challenge: string, to: string): string {
  return `passkey:${to}:${sha256(challenge)}`;
}

function unavailable(): never {
  throw signInUnavailable();
}
