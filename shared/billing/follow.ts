import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import { isDeleted } from "../db/deleted.ts";
import { billing_customers, users } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { isId } from "../platform/ids.ts";
import { endCustomer } from "./close-customer.ts";
import type { EventTaker } from "./provider-event.ts";
import { idOf, withProvider } from "./stripe.ts";
import { type Entitlement, entitlementOf, subscriptionsOf } from "./subscriptions.ts";

/** What the events of subscriptions do: the account's plan becomes what its customer's subscriptions entitle to. */
export const subscriptionEvents: EventTaker = {
  types: new Set([
    "customer.subscription.created",
    "customer.subscription.updated",
    "customer.subscription.deleted",
    "customer.subscription.pending_update_applied",
    "customer.subscription.pending_update_expired",
  ]),
  async take(ctx, event) {
    const customer = idOf((event.data.object as Stripe.Subscription).customer);
    if (customer !== null) await withProvider(ctx, (stripe) => followCustomer(ctx, stripe, customer));
  },
};

interface Start {
  /** The database's time before the provider is read, and whose customer it is by our rows. */
  at: string;
  user_id: string | null;
}

/** Reads a customer's subscriptions and writes what follows. A customer of nobody here changes nothing. */
async function followCustomer(ctx: Context, stripe: Stripe, customerId: string): Promise<void> {
  const { at, user_id } = (await readJson<Start>(
    ctx,
    sql`select jsonb_build_object('at', now(),
      'user_id', (select user_id from ${billing_customers} where customer_id = ${customerId})) as result`,
  )) as Start;
  const userId = user_id ?? (await namedBy(stripe, customerId));
  if (userId === null) return ctx.log.warn("subscription of an unknown customer", { customer_id: customerId });
  const entitlement = entitlementOf(ctx.env, await subscriptionsOf(stripe, customerId));
  if (entitlement.plan === null) {
    ctx.log.error("subscription at an unknown price", { subscription_id: entitlement.subscription?.id });
  }
  const isClosed = await writeEntitlement(ctx, { at, userId, customerId, entitlement });
  if (isClosed) await endCustomer(stripe, customerId);
}

/** The account that the customer was made for, which its metadata names; null for any other customer. */
async function namedBy(stripe: Stripe, customerId: string): Promise<string | null> {
  const customer = await stripe.customers.retrieve(customerId);
  const named = customer.deleted === true ? undefined : customer.metadata["user_id"];
  return named !== undefined && isId(named) ? named : null;
}

/**
 * Writes the plan unless something read later is written already. Enterprise is arranged by hand and stays, and so does
 * the plan of who pays a price that no setting names. Returns whether the account was deleted.
 */
async function writeEntitlement(
  ctx: Context,
  { at, userId, customerId, entitlement }: { at: string; userId: string; customerId: string; entitlement: Entitlement },
): Promise<boolean | null> {
  const { plan, subscription } = entitlement;
  return readJson<boolean>(
    ctx,
    sql`with owner as (
      select u.id from ${users} u where u.id = ${userId}::uuid and not ${isDeleted} for no key update
    ), written as (
      insert into ${billing_customers} as b (user_id, customer_id, subscription_id, subscription_status, read_at)
      select id, ${customerId}, ${subscription?.id ?? null}::text, ${subscription?.status ?? null}::text, ${at}::timestamptz
        from owner
      on conflict (user_id) do update set subscription_id = excluded.subscription_id,
          subscription_status = excluded.subscription_status, read_at = excluded.read_at
        where b.customer_id = excluded.customer_id and (b.read_at is null or b.read_at <= excluded.read_at)
      returning user_id
    ), entitled as (
      update ${users} u set plan = coalesce(${plan}::text, u.plan), updated_at = now() from written w
      where u.id = w.user_id and u.plan <> 'enterprise' and u.plan <> ${plan}::text
    ) select to_jsonb(${isDeleted}) as result from ${users} u where u.id = ${userId}::uuid`,
  );
}
