import { sql } from "drizzle-orm";
import type * as z from "zod";
import { closeAtProvider, ClosingMessage } from "../shared/billing/close-customer.ts";
import type { Context } from "../shared/platform/context.ts";
import { consumer, owedUntil } from "../shared/queue/consumer.ts";
import { done } from "../shared/db/done.ts";

const isDone = (ctx: Context, message: z.output<typeof ClosingMessage>) =>
  done(ctx, "cancel-billing", sql`o.body = ${JSON.stringify(message)}::jsonb`);

/**
 * Ends what a deleted account pays for, and the pages at which it could still pay. What can't be ended within three days
 * ends with the subscription's next event; the page has expired by then.
 */
export const cancelBillingConsumer = consumer({
  name: "cancel-billing",
  body: ClosingMessage,
  ...owedUntil(isDone),
  timeoutSeconds: 60,
  parallelism: null,
  async handle(ctx, message) {
    await closeAtProvider(ctx, message);
    await isDone(ctx, message);
  },
});
