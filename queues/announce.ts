import { consumer, UNHURRIED } from "../shared/queue/consumer.ts";
import { announce } from "../shared/webhooks/announce.ts";
import { WebhookEvent } from "../shared/webhooks/event.ts";

/** Makes a delivery of an event for each subscription to it. */
export const announceConsumer = consumer({
  name: "announce",
  body: WebhookEvent,
  // The last retry comes about 8 hours later: even then an event is still worth delivering.
  ...UNHURRIED,
  timeoutSeconds: 30,
  parallelism: null,
  handle: announce,
  dead: () => Promise.resolve(),
});
