import type Stripe from "stripe";
import type * as z from "zod";
import type { Context } from "../platform/context.ts";
import type { Offer } from "./prices.ts";
import type { PlanChangeResponse } from "./schemas.ts";
import { idOf, underKey } from "./stripe.ts";
import { planItem } from "./subscriptions.ts";

/**
 * Moves a subscription to another price and invoices the difference at once; until that invoice is paid, the old price
 * stays. A subscription that already has the price, or is waiting for it, is left alone. Throws `payment_failed` if the
 * card is refused. The account's plan changes when the provider's event arrives.
 */
export async function changePlan(
  ctx: Context,
  stripe: Stripe,
  subscription: Stripe.Subscription,
  { tier, cadence, price }: Offer & { price: string },
): Promise<z.output<typeof PlanChangeResponse>> {
  const outcome = (effective: boolean) =>
    ({ kind: "plan_change", plan: tier, cadence, effective_at: effective ? ctx.now().toISOString() : null }) as const;
  const item = planItem(ctx.env, subscription);
  if (item === undefined) throw new Error(`the subscription ${subscription.id} has no item`);
  const waiting = subscription.pending_update?.subscription_items ?? [];
  if (waiting.some((one) => one.price.id === price)) return outcome(false);
  if (item.price.id === price) return outcome(true);
  const key = ["plan", subscription.id, item.price.id, price, idOf(subscription.latest_invoice)].join("-");
  const changed = await underKey(key, (options) =>
    stripe.subscriptions.update(
      subscription.id,
      {
        items: [{ id: item.id, price }],
        proration_behavior: "always_invoice",
        payment_behavior: "pending_if_incomplete",
      },
      options,
    ),
  );
  return outcome(changed.pending_update === null);
}
