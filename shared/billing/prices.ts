import type Stripe from "stripe";
import type { Context } from "../platform/context.ts";
import type { Env } from "../platform/env.ts";
import { Problem } from "../platform/problem.ts";
import { ifKnown } from "./stripe.ts";

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

/**
 * Throws 503 `payment_not_configured` where the provider has no such price on sale. Asked before anything is begun at it: the
 * provider keeps a refusal for a day under its key, under which it then takes no other price.
 */
export async function assertOnSale(
  { log }: Pick<Context, "log">,
  stripe: Stripe,
  price: string,
  type: Stripe.Price.Type,
): Promise<void> {
  const known = await ifKnown(stripe.prices.retrieve(price));
  if (known?.active === true && known.type === type) return;
  log.error("a setting names a price that is not on sale at the payment provider", { price, wanted: type });
  throw new Problem(
    "payment_not_configured",
    `The payment provider does not sell ${price} as ${type}; the operator has to set another price.`,
  );
}

/** The plan that a price buys; null for one that no setting names. */
export function tierOf(env: Prices, priceId: string): Offer["tier"] | null {
  for (const tier of ["team", "pro"] as const) {
    if (Object.values(SETTINGS[tier]).some((setting) => env[setting] === priceId)) return tier;
  }
  return null;
}
