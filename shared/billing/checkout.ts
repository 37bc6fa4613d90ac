import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import type * as z from "zod";
import { write } from "../db/change.ts";
import { keepResult, keptResult } from "../db/statement.ts";
import { setPlan } from "../identity/parts/set-plan.ts";
import type { Context } from "../platform/context.ts";
import { frontendPage } from "../platform/frontend.ts";
import { Problem } from "../platform/problem.ts";
import { changePlan } from "./change-plan.ts";
import { accountGone, billingAccount, ensureCustomer } from "./customer.ts";
import { closePage } from "./close-page.ts";
import { isDevMode, requireBilling } from "./mode.ts";
import { type Offer, priceOf, pricesOf } from "./prices.ts";
import { CheckoutOutcome, DevUpgradeResponse } from "./schemas.ts";
import { type Payments, underKey, withProvider } from "./stripe.ts";
import { bestOf, isBillable, subscriptionsOf } from "./subscriptions.ts";

type Outcome = z.output<typeof CheckoutOutcome>;

/**
 * Buys a plan: in dev mode it is the account's at once; a subscription that is billable already gets the plan's price;
 * else a hosted checkout is opened, or the one that is open for this price is returned again. None is opened beside a
 * subscription whose first payment is under way: both could be paid. Never writes a plan outside dev mode. Throws `billing_disabled`, `payment_not_configured`, `payment_in_progress`, `payment_failed`.
 */
export async function checkout(ctx: Context, userId: string, offer: Offer): Promise<Outcome> {
  requireBilling(ctx.env);
  if (isDevMode(ctx.env)) return upgradeInDevMode(ctx, userId);
  const kept = await keptResult(ctx, CheckoutOutcome);
  if (kept !== null) return kept;
  const outcome = await withProvider(ctx, async (stripe) => {
    const price = priceOf(ctx.env, offer);
    const customer = await ensureCustomer(ctx, stripe, await billingAccount(ctx, userId));
    // Sessions before subscriptions: a session that is paid in between is then found as its subscription.
    const { open, latest } = await sessionsOf(stripe, customer);
    const subscriptions = await subscriptionsOf(stripe, customer);
    const subscription = bestOf(ctx.env, subscriptions.filter(isBillable));
    const isBegun = subscription === null && subscriptions.some(({ status }) => status === "incomplete");
    const same =
      subscription === null && !isBegun ? open.find(({ metadata }) => metadata?.["price"] === price) : undefined;
    for (const session of open) if (session !== same) await expire(stripe, session);
    if (isBegun) throw firstPayment();
    if (subscription !== null) return changePlan(ctx, stripe, subscription, { ...offer, price });
    return toOutcome(same ?? (await openSession(ctx, stripe, { customer, price, latest })));
  });
  return keepResult(ctx, CheckoutOutcome, outcome);
}

/** A free account becomes Pro; a higher plan stays. */
async function upgradeInDevMode(ctx: Context, userId: string): Promise<z.output<typeof DevUpgradeResponse>> {
  const upgraded = await write(ctx, {
    parts: sql`with updated as (
      ${setPlan(sql`select ${userId}::uuid`, sql`case u.plan when 'free' then 'pro' else u.plan end`)}
    )`,
    select: sql`select jsonb_build_object('kind', 'dev_upgrade', 'plan', plan) as result from updated`,
    result: DevUpgradeResponse,
  });
  if (upgraded === null) throw accountGone();
  return upgraded;
}

/** The customer's subscription checkouts that can still be paid, and the id of the latest session of any kind. */
async function sessionsOf(
  stripe: Payments,
  customer: string,
): Promise<{ open: Stripe.Checkout.Session[]; latest: string }> {
  // One listing for both: a request that replaces an open session must be the first to follow the latest, or it is refused.
  const all = await stripe.checkout.sessions.list({ customer, limit: 100 }).autoPagingToArray({ limit: 1000 });
  const open = all.filter(({ mode, status }) => mode === "subscription" && status === "open");
  return { open, latest: all[0]?.id ?? "none" };
}

/** Ends a session that is no longer wanted. Throws `payment_in_progress` if it was paid at this very moment. */
async function expire(stripe: Payments, { id }: Stripe.Checkout.Session): Promise<void> {
  const { isPaid } = await closePage(stripe, id);
  if (!isPaid) return;
  throw new Problem("payment_in_progress", "Another checkout was just paid; try again in a moment.", {
    headers: { "Retry-After": "2" },
  });
}

/** The 409 for an account whose subscription has yet to be paid for the first time. */
function firstPayment(): Problem {
  return new Problem(
    "payment_in_progress",
    "The first payment of a subscription is under way. See GET /api/v1/billing/pending-payment for the page to pay it at, " +
      "or cancel the plan to choose another.",
  );
}

/**
 * Opens the session after `latest`. Parallel requests for the same price share one; those for another price are refused. The
 * key names all prices that are set: under that of a price which the provider refused it would take no other for a day.
 */
function openSession(
  ctx: Context,
  stripe: Payments,
  { customer, price, latest }: { customer: string; price: string; latest: string },
): Promise<Stripe.Checkout.Session> {
  const page = frontendPage(ctx.env, "/billing");
  const wanted: Stripe.Checkout.SessionCreateParams = {
    mode: "subscription",
    customer,
    line_items: [{ price, quantity: 1 }],
    success_url: `${page}?checkout=done`,
    cancel_url: `${page}?checkout=left`,
    metadata: { kind: "subscription", price },
  };
  const key = `checkout-${customer}-${latest}-${pricesOf(ctx.env)}`;
  return underKey(key, (options) => stripe.checkout.sessions.create(wanted, options), ctx.redis);
}

function toOutcome({ id, url }: Stripe.Checkout.Session): Outcome {
  if (url === null) throw new Error(`the session ${id} has no page`);
  return { kind: "checkout", url, session_id: id };
}
