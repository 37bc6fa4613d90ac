import * as z from "zod";
import type { Context } from "../../platform/context.ts";
import { decrypt, encrypt } from "../../platform/encryption.ts";
import { verifyPassword } from "./password.ts";

/** What the ciphertext is bound to. */
const PURPOSE = "former-password";
const KEPT_SECONDS = 300;

const keyOf = (sessionId: string): string => `former-password:${sessionId}`;

/** Keeps for minutes what the password was before a session changes it, so that the same change is known when it comes again. */
export async function keepFormer(ctx: Context, sessionId: string, hash: string): Promise<void> {
  const sealed = encrypt(hash, ctx.env.DATA_ENCRYPTION_KEYS, PURPOSE);
  await ctx.redis.set(keyOf(sessionId), sealed, { ex: KEPT_SECONDS }).catch(() => null);
}

/**
 * Whether a session has just made this very change: `current` was the password before, and `next` fits the `hash` in force.
 * The new one is not looked at for anybody who does not know the former, so that a request guesses at one password.
 */
export async function isRepeated(
  ctx: Context,
  sessionId: string,
  { current, next, hash }: { current: string; next: string; hash: string },
): Promise<boolean> {
  const sealed = z
    .string()
    .nullable()
    .parse(await ctx.redis.get(keyOf(sessionId)).catch(() => null));
  if (sealed === null) return false;
  const former = decrypt(sealed, ctx.env.DATA_ENCRYPTION_KEYS, PURPOSE);
  const fits = async (password: string, to: string) => (await verifyPassword(password, to, ctx.passwordCost)).ok;
  return (await fits(current, former)) && (await fits(next, hash));
}
