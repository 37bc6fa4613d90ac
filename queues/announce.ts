import { sql } from "drizzle-orm";
import { consumer, UNTIL_DONE } from "../shared/queue/consumer.ts";
import { done } from "../shared/db/done.ts";
import { announce } from "../shared/webhooks/announce.ts";
import { WebhookEvent } from "../shared/webhooks/event.ts";

/** Makes a delivery of an event for each subscription to it; the statement that makes them takes the message off, too. */
export const announceConsumer = consumer({
  name: "announce",
  body: WebhookEvent,
  ...UNTIL_DONE,
  timeoutSeconds: 30,
  parallelism: null,
  handle: announce,
  dead: (ctx, { id }, end) => (end === "refused" ? done(ctx, "announce", sql`o.id = ${id}::uuid`) : Promise.resolve()),
});
