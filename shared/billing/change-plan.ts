import type Stripe from "stripe";
import type * as z from "zod";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { Problem } from "../platform/problem.ts";
import type { Offer } from "./prices.ts";
import type { PlanChangeResponse } from "./schemas.ts";
import { idOf, isMissing, type Payments, underKey } from "./stripe.ts";
import { ENTITLING, isOwing, planItem } from "./subscriptions.ts";

/**
 * Has a subscription go on at a price. A cancellation that was scheduled is taken back, whatever becomes of the payment.
 * Then another price is invoiced by its difference at once, and until that is paid the old one stays; the price that it
 * has already is kept, and a change that waits for its payment is given up. Where it waits for this price, it goes on
 * waiting, also where the card was declined. While the renewal is not paid, no other price is taken. Throws
 * `payment_in_progress` for that, before anything is changed, and if a change was paid while it was given up. The
 * account's plan changes when the provider's event arrives.
 */
export async function changePlan(
  ctx: Context,
  stripe: Payments,
  subscription: Stripe.Subscription,
  { tier, cadence, price }: Offer & { price: string },
): Promise<z.output<typeof PlanChangeResponse>> {
  // Of a subscription whose renewal was given up the price is agreed on, but nobody has the plan before that is paid.
  const outcome = ({ status }: Stripe.Subscription, isChanged: boolean) => {
    const effective_at = isChanged && ENTITLING.has(status) ? ctx.now().toISOString() : null;
    return { kind: "plan_change", plan: tier, cadence, effective_at } as const;
  };
  const item = planItem(ctx.env, subscription);
  if (item === undefined) throw new Error(`the subscription ${subscription.id} has no item`);
  if (isOwing(subscription) && item.price.id !== price) throw renewalDue();
  const lasting = await takeEndBack(ctx, stripe, subscription);
  const waiting = lasting.pending_update?.subscription_items ?? [];
  if (waiting.some((one) => one.price.id === price)) return outcome(lasting, false);
  if (item.price.id === price) {
    if (lasting.pending_update !== null) await giveUpChange(stripe, lasting);
    return outcome(lasting, true);
  }
  const key = ["plan", lasting.id, item.price.id, price, idOf(lasting.latest_invoice)].join("-");
  const changed = await underKey(key, (options) =>
    stripe.subscriptions.update(
      lasting.id,
      {
        items: [{ id: item.id, price }],
        proration_behavior: "always_invoice",
        payment_behavior: "pending_if_incomplete",
      },
      options,
    ),
  ).catch((error: unknown) => {
    throw lacksMeans(error) ? noMeans() : error;
  });
  return outcome(changed, changed.pending_update === null);
}

/**
 * The 409 for another price while the renewal is not paid. The provider credits the rest of a period that was only invoiced
 * (https://docs.stripe.com/billing/subscriptions/credit-proration-deferral): whoever went from a large plan, whose renewal
 * the card declined, to a small one would have that for years for nothing.
 */
function renewalDue(): Problem {
  return new Problem(
    "payment_in_progress",
    "The renewal of the subscription is not paid yet, and it gets no other price before that. See GET " +
      "/api/v1/billing/pending-payment for the page to pay it at, or cancel the plan to choose another.",
  );
}

/** Whether the provider has nothing to charge the customer by: of what is missing it then names no parameter. */
function lacksMeans(error: unknown): boolean {
  return isMissing(error) && error instanceof Error && "param" in error && error.param === undefined;
}

function noMeans(): Problem {
  return new Problem(
    "payment_failed",
    "The account has no means of payment at the provider, and nothing was changed. Add one at the page of POST " +
      "/api/v1/billing/portal, and try again.",
  );
}

/**
 * Has a subscription that would end by itself go on, and returns it. The portal writes `cancel_at` alone, the dashboard
 * `cancel_at_period_end` (https://docs.stripe.com/billing/subscriptions/billing-mode/compare).
 */
async function takeEndBack(
  ctx: Context,
  stripe: Payments,
  subscription: Stripe.Subscription,
): Promise<Stripe.Subscription> {
  const { id, cancel_at, cancel_at_period_end: isAtPeriodEnd } = subscription;
  if (!isAtPeriodEnd && cancel_at === null) return subscription;
  // A call of its own: a pending update supports no cancel_at (https://docs.stripe.com/billing/subscriptions/pending-updates),
  // and what a new price costs is reckoned to the end that is written. Before the change, so that whoever pays keeps it.
  return stripe.subscriptions.update(
    id,
    isAtPeriodEnd ? { cancel_at_period_end: false } : { cancel_at: "" },
    // A key of its own each time: within the day for which the provider keeps an answer, the customer may cancel again.
    { idempotencyKey: `go-on-${newId(ctx.now())}` },
  );
}

/** Gives up a change that waits for its payment, so that nobody can pay for it any more: voiding its invoice does. */
async function giveUpChange(stripe: Payments, { latest_invoice }: Stripe.Subscription): Promise<void> {
  const id = idOf(latest_invoice);
  if (id === null) throw new Error("a change waits without an invoice");
  try {
    await underKey(`void-${id}`, (options) => stripe.invoices.voidInvoice(id, {}, options));
  } catch (error) {
    // Only an open invoice can be voided: another request, its time or a payment may have been first.
    const { status } = await stripe.invoices.retrieve(id);
    if (status === "open") throw error;
    if (status !== "paid") return;
    throw new Problem("payment_in_progress", "The change of plan was just paid; try again in a moment.", {
      headers: { "Retry-After": "2" },
    });
  }
}
