import type { Env } from "../platform/env.ts";
import { Problem } from "../platform/problem.ts";

/**
 * Whether upgrades and grants are instant and cost nothing: where no payment key is set, and never in production, where
 * an unset key makes payments impossible instead.
 */
export function isDevMode(env: Pick<Env, "ENVIRONMENT" | "STRIPE_SECRET_KEY">): boolean {
  return env.ENVIRONMENT !== "production" && env.STRIPE_SECRET_KEY === undefined;
}

/** Throws 503 `billing_disabled` while operators have switched off what moves money. */
export function requireBilling(env: Pick<Env, "FLAGS">): void {
  if (!env.FLAGS.has("billing")) {
    throw new Problem(
      "billing_disabled",
      "Payments are switched off for the moment; nothing was changed. Try again later.",
    );
  }
}
