import { consumer, UNHURRIED } from "../shared/queue/consumer.ts";
import { announce } from "../shared/webhooks/announce.ts";
import { WebhookEvent } from "../shared/webhooks/event.ts";

/** Makes a delivery of an event for each subscription to it. */
export const announceConsumer = consumer({
  name: "announce",
  body: WebhookEvent,
  // The last some 8 hours later: an event that comes so late is still worth telling.
  ...UNHURRIED,
  timeoutSeconds: 30,
  parallelism: null,
  handle: announce,
  dead: () => Promise.resolve(),
});
