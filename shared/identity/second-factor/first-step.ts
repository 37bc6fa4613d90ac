import * as z from "zod";
import type { Context } from "../../platform/context.ts";
import { sha256 } from "../../platform/crypto.ts";
import { decrypt, encrypt } from "../../platform/encryption.ts";
import { Problem } from "../../platform/problem.ts";

/** What the ciphertext is bound to. */
const PURPOSE = "first-step";
/** How long the second step may take. */
export const FIRST_STEP_SECONDS = 600;

const METHODS = ["password", "codehost"] as const;

const FirstStep = z.object({
  user_id: z.uuid(),
  /** A hash of the password's hash: a password that is changed or taken away in between voids the step. */
  password: z.string(),
  until: z.number(),
  /** Steps that an earlier version sealed do not tell. */
  method: z.enum(METHODS).default("password"),
});

/** How a first step was passed. */
export type FirstMethod = (typeof METHODS)[number];

/** A sign-in that lacks nothing but the second factor; `firstStep` is what `completeSignIn` takes. */
export interface HalfSignedIn {
  firstStep: string;
}

/** Seals that somebody passed the first step of a sign-in to this account. Nobody else can make or read it. */
export function sealFirstStep(
  ctx: Context,
  userId: string,
  passwordHash: string | null,
  method: FirstMethod,
): HalfSignedIn {
  const step = {
    user_id: userId,
    password: mark(passwordHash),
    until: ctx.now().getTime() + FIRST_STEP_SECONDS * 1000,
    method,
  };
  return { firstStep: encrypt(JSON.stringify(step), ctx.env.DATA_ENCRYPTION_KEYS, PURPOSE) };
}

/**
 * The account of a first step that is not over, how it was passed, and what tells whether its password is still the same; else
 * null.
 */
export function openFirstStep(
  ctx: Context,
  sealed: string | undefined,
): { userId: string; method: FirstMethod; holds(passwordHash: string | null): boolean } | null {
  if (sealed === undefined) return null;
  let text: string;
  try {
    text = decrypt(sealed, ctx.env.DATA_ENCRYPTION_KEYS, PURPOSE);
  } catch {
    return null;
  }
  const { user_id, password, until, method } = FirstStep.parse(JSON.parse(text));
  if (ctx.now().getTime() >= until) return null;
  return { userId: user_id, method, holds: (passwordHash) => mark(passwordHash) === password };
}

function mark(passwordHash: string | null): string {
  return sha256(passwordHash ?? "");
}

/** The 401 that asks for the second factor. */
export function secondFactorRequired(): Problem {
  return new Problem(
    "second_factor_required",
    "This account asks for a code of its authenticator app. Sign in again with totp_code or recovery_code.",
  );
}
