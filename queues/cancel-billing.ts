import { closeCustomer, CustomerMessage } from "../shared/billing/close-customer.ts";
import { consumer, UNHURRIED } from "../shared/queue/consumer.ts";

/** Ends what a deleted account pays for. What can't be ended in time ends with the subscription's next event. */
export const cancelBillingConsumer = consumer({
  name: "cancel-billing",
  body: CustomerMessage,
  ...UNHURRIED,
  timeoutSeconds: 60,
  parallelism: null,
  handle: (ctx, { customer_id }) => closeCustomer(ctx, customer_id),
  dead: () => Promise.resolve(),
});
