import { sql } from "drizzle-orm";
import type * as z from "zod";
import type { Context } from "../shared/platform/context.ts";
import { consumer, owedUntil } from "../shared/queue/consumer.ts";
import { done } from "../shared/db/done.ts";
import { announce } from "../shared/webhooks/announce.ts";
import { WebhookEvent } from "../shared/webhooks/event.ts";

const isDone = (ctx: Context, { id }: z.output<typeof WebhookEvent>) => done(ctx, "announce", sql`o.id = ${id}::uuid`);

/** Makes a delivery of an event for each subscription to it; the statement that makes them takes the message off, too. */
export const announceConsumer = consumer({
  name: "announce",
  body: WebhookEvent,
  ...owedUntil(isDone),
  timeoutSeconds: 30,
  parallelism: null,
  handle: announce,
});
