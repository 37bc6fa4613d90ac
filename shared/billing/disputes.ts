import type Stripe from "stripe";
import type { Context } from "../platform/context.ts";
import { cancelSubscriptions } from "./cancel.ts";
import { namedBy } from "./follow.ts";
import type { EventTaker } from "./provider-event.ts";
import { idOf, withProvider } from "./stripe.ts";

/** The event that a dispute of a payment was decided. */
export const LOST_DISPUTE = "charge.dispute.closed" satisfies Stripe.Event.Type;

/** A dispute as the provider has it now, where it was lost: the payment went back for good. Null for any other. */
export async function lostDispute(ctx: Context, { id }: Stripe.Dispute): Promise<Stripe.Dispute | null> {
  const dispute = await withProvider(ctx, (stripe) => stripe.disputes.retrieve(id));
  return dispute.status === "lost" ? dispute : null;
}

/**
 * Ends the subscriptions of an account whose payment for one was charged back, as its bank would be charged again; one that
 * was begun after the dispute stays. The provider's events then end the plan.
 */
export const disputeEvents: EventTaker = {
  types: new Set([LOST_DISPUTE]),
  async take(ctx, event) {
    if (event.type !== LOST_DISPUTE) return;
    const dispute = await lostDispute(ctx, event.data.object);
    const chargeId = idOf(dispute?.charge ?? null);
    if (dispute === null || chargeId === null) return;
    await withProvider(ctx, async (stripe) => {
      const customer = idOf((await stripe.charges.retrieve(chargeId)).customer);
      if (customer === null || (await namedBy(stripe, customer)) === null) return;
      await cancelSubscriptions(stripe, customer, dispute.created);
    });
  },
};
