import { type SQL, sql } from "drizzle-orm";
import type Stripe from "stripe";
import * as z from "zod";
import { read } from "../db/change.ts";
import { isDeleted } from "../db/deleted.ts";
import { billing_customers, users } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { namedBy } from "./follow.ts";
import { type EventTaker, isEventOf } from "./provider-event.ts";
import { idOf, type Payments, withProvider } from "./stripe.ts";
import { tellOfNothing } from "./tell-of-nothing.ts";

const TYPES = [
  "checkout.session.completed",
  "checkout.session.async_payment_succeeded",
] as const satisfies Stripe.Event.Type[];

/**
 * Says in the log as an error that the first payment of a subscription was taken for an account that is gone, or after the
 * subscription had ended: a bank debit takes days and can't be called back, so either may have been closed meanwhile. The plan
 * of any other is not decided here.
 */
export const firstPaymentEvents: EventTaker = {
  types: new Set(TYPES),
  async take(ctx, event) {
    if (!isEventOf(TYPES, event) || event.data.object.metadata?.["kind"] !== "subscription") return;
    const { id } = event.data.object;
    await withProvider(ctx, async (stripe) => {
      const session = await stripe.checkout.sessions.retrieve(id, { expand: ["subscription"] });
      const { payment_status, customer, subscription, invoice } = session;
      const customerId = idOf(customer);
      if (payment_status === "unpaid" || customerId === null) return;
      const isLate = event.type === "checkout.session.async_payment_succeeded" && hadEnded(subscription, event.created);
      if (!isLate && (await isSomebodys(ctx, stripe, customerId))) return;
      tellOfNothing(ctx, "subscription", idOf(subscription), { customer_id: customerId, invoice_id: idOf(invoice) });
    });
  },
};

/** Whether a subscription was over by a time (Unix, in seconds). */
function hadEnded(subscription: Stripe.Checkout.Session["subscription"], at: number): boolean {
  const end = typeof subscription === "string" ? null : (subscription?.ended_at ?? null);
  return end !== null && end <= at;
}

/** Whether a customer is that of an account, by our rows or, where these are still to be written, by its metadata. */
async function isSomebodys(ctx: Context, stripe: Payments, customerId: string): Promise<boolean> {
  const kept = sql`select user_id from ${billing_customers} where customer_id = ${customerId}`;
  return (await isThere(ctx, kept)) || isThere(ctx, sql`select ${await namedBy(stripe, customerId)}::uuid`);
}

async function isThere(ctx: Context, id: SQL): Promise<boolean> {
  const there = await read(
    ctx,
    z.boolean(),
    sql`select to_jsonb(exists (select from ${users} u where u.id in (${id}) and not ${isDeleted})) as result`,
  );
  return there === true;
}
