import { disputeEvents } from "../billing/disputes.ts";
import { firstPaymentEvents } from "../billing/first-payment.ts";
import { subscriptionEvents } from "../billing/follow.ts";
import type { EventTaker } from "../billing/provider-event.ts";
import { certificationEvents } from "../certification/events.ts";
import { purchaseEvents } from "../marketplace/purchases/events.ts";
import { sellerEvents } from "../marketplace/seller/events.ts";

/** Everything that is done about the payment provider's events. */
export const TAKERS: readonly EventTaker[] = [
  subscriptionEvents,
  firstPaymentEvents,
  disputeEvents,
  purchaseEvents,
  sellerEvents,
  certificationEvents,
];
