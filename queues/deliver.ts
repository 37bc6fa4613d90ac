import { consumer } from "../shared/queue/consumer.ts";
import { deliver } from "../shared/webhooks/deliver.ts";
import { DeliveryMessage } from "../shared/webhooks/messages.ts";

/** Makes one attempt to deliver an event to a subscription. Attempts that fail have a message of their own for the next. */
export const deliverConsumer = consumer({
  name: "deliver",
  body: DeliveryMessage,
  // For faults of ours alone; the last about half an hour later. Then the minute trigger finds the attempt again.
  retries: 3,
  timeoutSeconds: 45,
  parallelism: 5,
  handle: (ctx, { delivery_id }) => deliver(ctx, delivery_id),
  dead: () => Promise.resolve(),
});
