import { consumer } from "../shared/queue/consumer.ts";
import { announce } from "../shared/webhooks/announce.ts";
import { WebhookEvent } from "../shared/webhooks/event.ts";

/** Makes a delivery of an event for each subscription to it. */
export const announceConsumer = consumer({
  name: "announce",
  body: WebhookEvent,
  // The last some 7 hours later: an event that comes so late is still worth telling.
  retries: 4,
  timeoutSeconds: 30,
  parallelism: null,
  handle: announce,
  dead: () => Promise.resolve(),
});
