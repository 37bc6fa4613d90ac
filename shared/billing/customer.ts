import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import { isDeleted } from "../db/deleted.ts";
import { billing_customers, users } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { Problem } from "../platform/problem.ts";
import type { Plan } from "./plans.ts";
import { underKey } from "./stripe.ts";

/** An account as billing sees it. */
export interface BillingAccount {
  id: string;
  email: string;
  plan: Plan;
  /** Its customer at the provider, once there is one, and the subscription that an event last told of. */
  customer_id: string | null;
  subscription_id: string | null;
}

const gone = (): Problem => new Problem("unauthenticated", "This account does not exist any more.");

/** What billing knows of an account; throws 401 when it is gone. */
export async function billingAccount(ctx: Context, userId: string): Promise<BillingAccount> {
  const account = await readJson<BillingAccount>(
    ctx,
    sql`select jsonb_build_object('id', u.id, 'email', u.email, 'plan', u.plan, 'customer_id', b.customer_id,
        'subscription_id', b.subscription_id) as result
      from ${users} u left join ${billing_customers} b on b.user_id = u.id where u.id = ${userId}::uuid and not ${isDeleted}`,
  );
  if (account === null) throw gone();
  return account;
}

/**
 * The account's customer at the provider, made where there is none: one however many ask at once. Its metadata names the
 * account, for events that come before the row is written. Throws 401 when the account is gone.
 */
export async function ensureCustomer(ctx: Context, stripe: Stripe, account: BillingAccount): Promise<string> {
  if (account.customer_id !== null) return account.customer_id;
  const { id, email } = account;
  const customer = await underKey(`customer-${id}`, (options) =>
    stripe.customers.create({ email, metadata: { user_id: id } }, options),
  );
  const kept = await readJson<string>(
    ctx,
    sql`with owner as (
      select u.id from ${users} u where u.id = ${id}::uuid and not ${isDeleted} for no key update
    ) insert into ${billing_customers} as b (user_id, customer_id) select id, ${customer.id} from owner
      on conflict (user_id) do update set customer_id = b.customer_id returning to_jsonb(b.customer_id) as result`,
  );
  if (kept === null) throw gone();
  return kept;
}
