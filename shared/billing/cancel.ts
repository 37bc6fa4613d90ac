import { sql } from "drizzle-orm";
import type * as z from "zod";
import { write } from "../db/change.ts";
import { setPlan } from "../identity/parts/set-plan.ts";
import type { Context } from "../platform/context.ts";
import { Problem } from "../platform/problem.ts";
import { billingAccount } from "./customer.ts";
import { isDevMode, requireBilling } from "./mode.ts";
import { DevUpgradeResponse } from "./schemas.ts";
import { ifKnown, type Payments, withProvider } from "./stripe.ts";
import { isLive, subscriptionsOf } from "./subscriptions.ts";

type Outcome = z.output<typeof DevUpgradeResponse>;

const nothingToCancel = (): Problem =>
  new Problem(
    "no_subscription",
    "This account pays for no plan. To end a plan that was granted, write to the operators.",
  );

/**
 * Ends what the account pays for, at once: in dev mode the plan itself, else every subscription at the provider, whose
 * event then makes the plan free. Returns the plan that the account will then have. Throws `billing_disabled`,
 * `payment_not_configured` and, where nothing is paid for, `no_subscription`.
 */
export async function cancelPlan(ctx: Context, userId: string): Promise<Outcome> {
  requireBilling(ctx.env);
  if (isDevMode(ctx.env)) return cancelInDevMode(ctx, userId);
  return withProvider(ctx, async (stripe) => {
    const { customer_id, plan } = await billingAccount(ctx, userId);
    const ended = customer_id === null ? 0 : await ifKnown(cancelSubscriptions(stripe, customer_id));
    if (ended === 0 || ended === null) throw nothingToCancel();
    return { kind: "dev_upgrade", plan: plan === "enterprise" ? plan : "free" };
  });
}

async function cancelInDevMode(ctx: Context, userId: string): Promise<Outcome> {
  const ended = await write(ctx, {
    parts: sql`with updated as (${setPlan(sql`select ${userId}::uuid`, sql`'free'`, sql`u.plan <> 'free'`)})`,
    select: sql`select jsonb_build_object('kind', 'dev_upgrade', 'plan', plan) as result from updated`,
    result: DevUpgradeResponse,
  });
  if (ended === null) throw nothingToCancel();
  return ended;
}

/** Cancels every subscription of a customer that is not over, at once, of those made `until` then (Unix time); returns how many there were. */
export async function cancelSubscriptions(stripe: Payments, customerId: string, until = Infinity): Promise<number> {
  const all = await subscriptionsOf(stripe, customerId);
  const live = all.filter((one) => isLive(one) && one.created <= until);
  for (const { id } of live) {
    await stripe.subscriptions.cancel(id, {}, { idempotencyKey: `cancel-${id}` }).catch(async (error: unknown) => {
      // Another request may have been first: the provider no longer finds what has been cancelled.
      if (isLive(await stripe.subscriptions.retrieve(id))) throw error;
    });
  }
  return live.length;
}
