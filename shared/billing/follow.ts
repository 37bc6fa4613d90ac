import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import * as z from "zod";
import { read, write } from "../db/change.ts";
import { isDeleted } from "../db/deleted.ts";
import { billing_customers, users } from "../db/schema/index.ts";
import { setPlan } from "../identity/parts/set-plan.ts";
import type { Context } from "../platform/context.ts";
import { isId } from "../platform/ids.ts";
import { endCustomer } from "./close-customer.ts";
import { type EventTaker, isEventOf } from "./provider-event.ts";
import { idOf, isMissing, type Payments, withProvider } from "./stripe.ts";
import { type Entitlement, entitlementOf, subscriptionsOf } from "./subscriptions.ts";
import { tellOfPlan } from "./tell-of-plan.ts";

const TYPES = [
  "customer.subscription.created",
  "customer.subscription.updated",
  "customer.subscription.deleted",
  "customer.subscription.pending_update_applied",
  "customer.subscription.pending_update_expired",
] as const satisfies Stripe.Event.Type[];

/** After an event of a subscription the account has the plan that its customer's subscriptions entitle it to. */
export const subscriptionEvents: EventTaker = {
  types: new Set(TYPES),
  async take(ctx, event) {
    if (!isEventOf(TYPES, event)) return;
    const customer = idOf(event.data.object.customer);
    if (customer !== null) await withProvider(ctx, (stripe) => followCustomer(ctx, stripe, customer));
  },
};

/**
 * The database's time before the provider is read, at full precision, and the account that has the customer in our
 * rows.
 */
const Start = z.object({ at: z.string(), user_id: z.uuid().nullable() });

/**
 * Reads a customer's subscriptions and writes the plan they entitle to. For a customer that belongs to no account here
 * it changes nothing.
 */
async function followCustomer(ctx: Context, stripe: Payments, customerId: string): Promise<void> {
  const start = await read(
    ctx,
    Start,
    sql`select jsonb_build_object('at', now(),
      'user_id', (select user_id from ${billing_customers} where customer_id = ${customerId})) as result`,
  );
  if (start === null) throw new Error("the database did not tell its time");
  const userId = start.user_id ?? (await namedBy(stripe, customerId));
  if (userId === null) return ctx.log.warn("subscription of an unknown customer", { customer_id: customerId });
  const entitlement = entitlementOf(ctx.env, await subscriptionsLeft(stripe, customerId));
  if (entitlement.plan === null) {
    ctx.log.error("subscription at an unknown price", { subscription_id: entitlement.subscription?.id });
  }
  const isClosed = await writeEntitlement(ctx, { at: start.at, userId, customerId, entitlement });
  if (isClosed) await endCustomer(stripe, customerId);
}

/**
 * A customer's subscriptions; none of one that was deleted. With a customer its subscriptions end, and their events come when
 * it is gone: whether its subscriptions can then still be listed is not documented.
 */
async function subscriptionsLeft(stripe: Payments, customerId: string): Promise<Stripe.Subscription[]> {
  try {
    return await subscriptionsOf(stripe, customerId);
  } catch (error) {
    // Only of a deletion is it known that nothing is paid any more.
    if (!isMissing(error) || (await stripe.customers.retrieve(customerId)).deleted !== true) throw error;
    return [];
  }
}

/** The account that the customer was made for, which its metadata names; null for any other customer. */
export async function namedBy(stripe: Payments, customerId: string): Promise<string | null> {
  const customer = await stripe.customers.retrieve(customerId);
  const named = customer.deleted === true ? undefined : customer.metadata["user_id"];
  return named !== undefined && isId(named) ? named : null;
}

/**
 * Writes the plan unless something that was read later has been written already. An enterprise plan is agreed on by hand
 * and stays, and so does the plan of an account that pays a price which no setting names. Mails the account where its plan
 * becomes smaller, or its renewal was not paid. Returns whether the account was deleted.
 */
async function writeEntitlement(
  ctx: Context,
  { at, userId, customerId, entitlement }: { at: string; userId: string; customerId: string; entitlement: Entitlement },
): Promise<boolean | null> {
  const { plan, subscription } = entitlement;
  return write(ctx, {
    parts: sql`with owner as (
      select u.id from ${users} u where u.id = ${userId}::uuid and not ${isDeleted} for no key update
    ), written as (
      insert into ${billing_customers} as b (user_id, customer_id, subscription_id, subscription_status, read_at)
      select id, ${customerId}, ${subscription?.id ?? null}::text, ${subscription?.status ?? null}::text, ${at}::timestamptz
        from owner
      on conflict (user_id) do update set subscription_id = excluded.subscription_id,
          subscription_status = excluded.subscription_status, read_at = excluded.read_at
        where b.customer_id = excluded.customer_id and (b.read_at is null or b.read_at <= excluded.read_at)
      returning user_id, subscription_status as status, old.subscription_status as former_status
    ), entitled as (
      ${setPlan(sql`select user_id from written`, sql`${plan}::text`, sql`u.plan <> 'enterprise' and u.plan <> ${plan}::text`)}
    ), mailed as (${tellOfPlan()})`,
    owes: ["mailed"],
    select: sql`select to_jsonb(${isDeleted}) as result from ${users} u where u.id = ${userId}::uuid`,
    result: z.boolean(),
  });
}
