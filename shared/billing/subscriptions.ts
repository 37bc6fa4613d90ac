import type Stripe from "stripe";
import type { Context } from "../platform/context.ts";
import type { Plan } from "../plans/plans.ts";
import { tierOf } from "./prices.ts";
import type { Payments } from "./stripe.ts";

/** The states of a subscription that entitle to its plan. */
export const ENTITLING: ReadonlySet<string> = new Set<Stripe.Subscription.Status>(["active", "trialing", "past_due"]);
const ENDED: ReadonlySet<string> = new Set<Stripe.Subscription.Status>(["canceled", "incomplete_expired"]);

/** More than a customer ever has; the provider gives them newest first. */
const MOST = 1000;

/** What a customer's subscriptions amount to. */
export interface Entitlement {
  /** The plan they pay for; null if its price appears in no setting. */
  plan: Plan | null;
  /** The one that decides; the latest if none is in force. */
  subscription: Stripe.Subscription | null;
}

/** Every subscription that a customer has or had, as the provider has them now. */
export function subscriptionsOf(stripe: Payments, customerId: string): Promise<Stripe.Subscription[]> {
  return stripe.subscriptions
    .list({ customer: customerId, status: "all", limit: 100 })
    .autoPagingToArray({ limit: MOST });
}

/** Whether a subscription may still be charged for. */
export function isLive({ status }: Stripe.Subscription): boolean {
  return !ENDED.has(status);
}

/** Whether a plan is sold by a change of this subscription, not beside it: it is in force, or its renewal may still be paid. */
export function isBillable({ status }: Stripe.Subscription): boolean {
  return ENTITLING.has(status) || status === "unpaid";
}

/** Whether the renewal of a subscription was not paid, be it that the provider still tries or that it gave up. */
export function isOwing({ status }: Stripe.Subscription): boolean {
  return status === "past_due" || status === "unpaid";
}

/** The item of a subscription that pays for the plan. */
export function planItem(env: Context["env"], { items }: Stripe.Subscription): Stripe.SubscriptionItem | undefined {
  return items.data.find(({ price }) => tierOf(env, price.id) !== null) ?? items.data[0];
}

/** A subscription's rank among several: in force before live before ended, then team before pro before another price. */
function rank(env: Context["env"], subscription: Stripe.Subscription): number {
  const state = ENTITLING.has(subscription.status) ? 2 : isLive(subscription) ? 1 : 0;
  return state * 3 + { team: 2, pro: 1, none: 0 }[tierAt(env, subscription) ?? "none"];
}

function tierAt(env: Context["env"], subscription: Stripe.Subscription): "pro" | "team" | null {
  return tierOf(env, planItem(env, subscription)?.price.id ?? "");
}

/** The best of some subscriptions, the newest among equals; null without any. */
export function bestOf(env: Context["env"], subscriptions: readonly Stripe.Subscription[]): Stripe.Subscription | null {
  return subscriptions.toSorted((a, b) => rank(env, b) - rank(env, a))[0] ?? null;
}

/**
 * What subscriptions entitle to: active, trialing and past_due ones do (the provider retries a failed renewal), the best
 * of them decides.
 */
export function entitlementOf(env: Context["env"], subscriptions: readonly Stripe.Subscription[]): Entitlement {
  const subscription = bestOf(env, subscriptions);
  if (subscription === null || !ENTITLING.has(subscription.status)) return { plan: "free", subscription };
  return { plan: tierAt(env, subscription), subscription };
}
