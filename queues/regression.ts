import { sql } from "drizzle-orm";
import type * as z from "zod";
import type { Context } from "../shared/platform/context.ts";
import { consumer, owedUntil } from "../shared/queue/consumer.ts";
import { done } from "../shared/db/done.ts";
import { SessionMessage } from "../shared/runs/messages.ts";
import { detectRegression } from "../shared/runs/regression.ts";

const isDone = (ctx: Context, { screening_session_id: id }: z.output<typeof SessionMessage>) =>
  done(ctx, "regression", sql`o.id = ${id}::uuid`);

/** Compares a finished session with the one before. If they can't be compared within three days, nobody is notified. */
export const regressionConsumer = consumer({
  name: "regression",
  body: SessionMessage,
  ...owedUntil(isDone),
  timeoutSeconds: 60,
  parallelism: null,
  async handle(ctx, message) {
    await detectRegression(ctx, message.screening_session_id);
    await isDone(ctx, message);
  },
});
