import type Stripe from "stripe";
import { cancelSubscriptions } from "./cancel.ts";
import { namedBy } from "./follow.ts";
import type { EventTaker } from "./provider-event.ts";
import { idOf, type Payments, withProvider } from "./stripe.ts";

/** The events by which what a payer gets back of a payment grows or shrinks. */
export const PAYBACK_EVENTS = [
  "charge.refunded",
  "refund.failed",
  "refund.updated",
  "charge.dispute.closed",
] as const satisfies Stripe.Event.Type[];

/** From this share of a charge on a dispute is over all of it: its amount wavers with the rate of the payer's currency. */
const NEARLY_ALL = 0.95;

/**
 * What the payer got back of a charge, in cents, as the provider has it now: by refunds, and by disputes that were lost. One
 * in another currency counts as over all of it.
 */
export async function paidBack(stripe: Payments, charge: Stripe.Charge): Promise<number> {
  const { id, amount, currency, amount_refunded, disputed } = charge;
  const disputes = disputed ? (await stripe.disputes.list({ charge: id, limit: 100 })).data : [];
  const lost = disputes
    .filter(({ status }) => status === "lost")
    .map((one) => (one.currency === currency && one.amount < NEARLY_ALL * amount ? one.amount : amount));
  return Math.min(
    amount,
    lost.reduce((sum, one) => sum + one, amount_refunded),
  );
}

/**
 * Ends the subscriptions of an account whose payment for one was charged back, as its bank would be charged again; one that
 * was begun after the dispute stays. The provider's events then end the plan.
 */
export const disputeEvents: EventTaker = {
  types: new Set(["charge.dispute.closed"]),
  async take(ctx, event) {
    if (event.type !== "charge.dispute.closed") return;
    const { id } = event.data.object;
    await withProvider(ctx, async (stripe) => {
      const dispute = await stripe.disputes.retrieve(id);
      const chargeId = idOf(dispute.charge);
      if (dispute.status !== "lost" || chargeId === null) return;
      const customer = idOf((await stripe.charges.retrieve(chargeId)).customer);
      if (customer === null || (await namedBy(stripe, customer)) === null) return;
      await cancelSubscriptions(stripe, customer, dispute.created);
    });
  },
};
