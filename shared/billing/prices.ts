import { sha256 } from "../platform/crypto.ts";
import type { Env } from "../platform/env.ts";
import { Problem } from "../platform/problem.ts";

/** A plan that is sold, and how often it is paid. */
export interface Offer {
  tier: "pro" | "team";
  cadence: "monthly" | "yearly";
}

const SETTINGS = {
  pro: { monthly: "STRIPE_PRICE_PRO_MONTHLY", yearly: "STRIPE_PRICE_PRO_YEARLY" },
  team: { monthly: "STRIPE_PRICE_TEAM_MONTHLY", yearly: "STRIPE_PRICE_TEAM_YEARLY" },
} as const;

type Prices = Pick<Env, (typeof SETTINGS)[Offer["tier"]][Offer["cadence"]]>;

/**
 * The provider's id of an offer's price. Throws 503 `payment_not_configured`, which names the setting, if it is not
 * set.
 */
export function priceOf(env: Prices, { tier, cadence }: Offer): string {
  const setting = SETTINGS[tier][cadence];
  const price = env[setting];
  if (price !== undefined) return price;
  throw new Problem("payment_not_configured", `This plan is not on sale here; the operator has to set ${setting}.`);
}

/** A name for what all offers cost: another one as soon as the operator sets a price anew. */
export function pricesOf(env: Prices): string {
  const set = Object.values(SETTINGS).flatMap((cadences) =>
    Object.values(cadences).map((setting) => env[setting] ?? ""),
  );
  return sha256(set.join(" ")).slice(0, 12);
}

/** The plan that a price buys; null for one that no setting names. */
export function tierOf(env: Prices, priceId: string): Offer["tier"] | null {
  for (const tier of ["team", "pro"] as const) {
    if (Object.values(SETTINGS[tier]).some((setting) => env[setting] === priceId)) return tier;
  }
  return null;
}
