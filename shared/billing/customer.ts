import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { isDeleted } from "../db/deleted.ts";
import { billing_customers, users } from "../db/schema/index.ts";
import { setPlan } from "../identity/parts/set-plan.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { Problem } from "../platform/problem.ts";
import { PlanName } from "./schemas.ts";
import { ifKnown, type Payments, underKey, withAddress } from "./stripe.ts";
import { ENTITLING } from "./subscriptions.ts";

/** An account as billing sees it. */
const BillingAccount = z.object({
  id: z.uuid(),
  email: z.string(),
  plan: PlanName,
  /** Its customer at the provider, once there is one. */
  customer_id: z.string().nullable(),
  /** The subscription that the latest event was about. */
  subscription_id: z.string().nullable(),
});
export type BillingAccount = z.output<typeof BillingAccount>;

/** The 401 for an account that was deleted. */
export function accountGone(): Problem {
  return new Problem("unauthenticated", "This account does not exist any more.");
}

/** What billing knows of an account; throws 401 when it is gone. */
export async function billingAccount(ctx: Context, userId: string): Promise<BillingAccount> {
  const account = await read(
    ctx,
    BillingAccount,
    sql`select jsonb_build_object('id', u.id, 'email', u.email, 'plan', u.plan, 'customer_id', b.customer_id,
        'subscription_id', b.subscription_id) as result
      from ${users} u left join ${billing_customers} b on b.user_id = u.id where u.id = ${userId}::uuid and not ${isDeleted}`,
  );
  if (account === null) throw accountGone();
  return account;
}

/**
 * The account's customer at the provider, made where there is none, or none any more (somebody may delete it in the
 * provider's dashboard): just one, however many requests ask for it at once. It gets the account's address where that was
 * changed. Its metadata names the account, for events that come before the row is written. Throws 401 when the account is gone.
 */
export async function ensureCustomer(ctx: Context, stripe: Payments, account: BillingAccount): Promise<string> {
  const { id, email, customer_id: former } = account;
  const known = former === null ? null : await ifKnown(stripe.customers.retrieve(former));
  if (known !== null && known.deleted !== true) {
    // The address that it has by now may be one that the account itself gave it at the provider.
    if ((known.metadata["account_email"] ?? known.email) !== email) await rename(ctx, stripe, known.id, email);
    return known.id;
  }
  if (former !== null) ctx.log.warn("customer is gone at the provider", { user_id: id, customer_id: former });
  const key = former === null ? `customer-${id}` : `customer-${id}-after-${former}`;
  const metadata = { user_id: id, account_email: email };
  const customer = await withAddress((isRefused) =>
    underKey(isRefused ? `${key}-without-address` : key, (options) =>
      stripe.customers.create(isRefused ? { metadata } : { email, metadata }, options),
    ),
  );
  // Deleting an account ends its subscriptions, and the events about that name a customer who no longer belongs to anyone.
  const kept = await keepCustomer(ctx, { userId: id, former, customerId: customer.id, endsPlan: known !== null });
  if (kept === null) throw accountGone();
  return kept;
}

/** Has the provider write to the address that the account has now. */
async function rename(ctx: Context, stripe: Payments, customerId: string, email: string): Promise<void> {
  // A key of its own each time: an address may come back within the day for which the provider keeps an answer.
  await withAddress((isRefused) =>
    stripe.customers.update(
      customerId,
      { email: isRefused ? "" : email, metadata: { account_email: email } },
      { idempotencyKey: `email-${newId(ctx.now())}` },
    ),
  );
}

/**
 * Keeps the customer where the account has none, or still has `former`, whose plan then ends if `endsPlan`. Returns the
 * customer that the account now has; null where the account is gone.
 */
function keepCustomer(
  ctx: Context,
  {
    userId,
    former,
    customerId,
    endsPlan,
  }: Record<"userId" | "customerId", string> & {
    former: string | null;
    endsPlan: boolean;
  },
): Promise<string | null> {
  const entitling = sql.join(
    [...ENTITLING].map((status) => sql`${status}`),
    sql`, `,
  );
  const only = (value: SQL, otherwise: SQL): SQL =>
    sql`case b.customer_id when ${former}::text then ${value} else ${otherwise} end`;
  // Not by `write`, which would keep this step under the request's Idempotency-Key: the key is for the whole answer.
  return read(
    ctx,
    z.string(),
    sql`with owner as (
      select u.id from ${users} u where u.id = ${userId}::uuid and not ${isDeleted} for no key update
    ), kept as (
      insert into ${billing_customers} as b (user_id, customer_id) select id, ${customerId} from owner
      on conflict (user_id) do update set customer_id = ${only(sql`excluded.customer_id`, sql`b.customer_id`)},
        subscription_id = ${only(sql`null`, sql`b.subscription_id`)},
        subscription_status = ${only(sql`null`, sql`b.subscription_status`)}, read_at = ${only(sql`null`, sql`b.read_at`)}
      returning b.user_id, new.customer_id, old.customer_id is distinct from new.customer_id
        and coalesce(old.subscription_status in (${entitling}), false) as was_entitled
    ), ended as (
      ${setPlan(
        sql`select user_id from kept where was_entitled and ${endsPlan}::boolean`,
        sql`'free'`,
        sql`u.plan <> 'enterprise'`,
      )}
    ) select to_jsonb(customer_id) as result from kept`,
  );
}
