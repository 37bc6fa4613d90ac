import { consumer } from "../shared/queue/consumer.ts";
import { deliverDue } from "../shared/webhooks/deliver-due.ts";
import { DueMessage } from "../shared/webhooks/messages.ts";

/** Makes the attempts of one subscription that are due. Those that fail get a message of their own. */
export const deliverDueConsumer = consumer({
  name: "deliver-due",
  body: DueMessage,
  // For our own faults only; the last retry comes about half an hour later. Then the minute trigger finds the attempts.
  retries: 3,
  timeoutSeconds: 60,
  // One at a time sends up to five: a slow receiver holds up its own subscription alone.
  parallelism: 1,
  handle: deliverDue,
  dead: () => Promise.resolve(),
});
