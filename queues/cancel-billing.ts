import { closeAtProvider, ClosingMessage } from "../shared/billing/close-customer.ts";
import { consumer, UNHURRIED } from "../shared/queue/consumer.ts";

/**
 * Ends what a deleted account pays for, and the pages at which it could still pay. What can't be ended in time ends
 * with the subscription's next event, or when the page expires after a day.
 */
export const cancelBillingConsumer = consumer({
  name: "cancel-billing",
  body: ClosingMessage,
  ...UNHURRIED,
  timeoutSeconds: 60,
  parallelism: null,
  handle: closeAtProvider,
  dead: () => Promise.resolve(),
});
