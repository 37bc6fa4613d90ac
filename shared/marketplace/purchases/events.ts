import { ONE_OFF_EVENTS, settlementOf } from "../../billing/one-off.ts";
import type { EventTaker } from "../../billing/provider-event.ts";
import { idOf } from "../../billing/stripe.ts";
import { tellOfNothing } from "../../billing/tell-of-nothing.ts";
import { followGiveBack, GIVE_BACK_EVENTS, isGiveBack } from "./give-back.ts";
import { completePurchase, failPurchase, leavePage } from "./settle.ts";

/**
 * Settles purchases: paid ones are completed; those that expired or whose delayed payment failed have failed; those whose
 * delayed payment is under way have no page any more. Keeps what went back of paid ones afterwards. A payment that gave its
 * buyer nothing is said in the log as an error.
 */
export const purchaseEvents: EventTaker = {
  types: new Set([...ONE_OFF_EVENTS, ...GIVE_BACK_EVENTS]),
  async take(ctx, event) {
    if (isGiveBack(event)) return followGiveBack(ctx, event);
    const settled = await settlementOf(ctx, "purchase", event);
    if (settled?.outcome === "paid" && !(await completePurchase(ctx, settled.id, settled.session.id)))
      tellOfNothing(ctx, "purchase", settled.id, { payment_intent_id: idOf(settled.session.payment_intent) });
    if (settled?.outcome === "failed") await failPurchase(ctx, settled.id, settled.session.id);
    if (settled?.outcome === "open" && settled.session.status === "complete")
      await leavePage(ctx, settled.id, settled.session.id);
  },
};
