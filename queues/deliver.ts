import { consumer } from "../shared/queue/consumer.ts";
import { deliver } from "../shared/webhooks/deliver.ts";
import { DeliveryMessage } from "../shared/webhooks/messages.ts";

/** Makes one attempt to deliver an event: carries out what earlier versions owed, and what is still on its way. */
export const deliverConsumer = consumer({
  name: "deliver",
  body: DeliveryMessage,
  // For our own faults only; the last retry comes about half an hour later. Then the minute trigger finds the attempt.
  retries: 3,
  timeoutSeconds: 45,
  parallelism: 5,
  handle: (ctx, { delivery_id }) => deliver(ctx, delivery_id),
  dead: () => Promise.resolve(),
});
