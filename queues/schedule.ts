import { sql } from "drizzle-orm";
import type * as z from "zod";
import type { Context } from "../shared/platform/context.ts";
import { consumer } from "../shared/queue/consumer.ts";
import { done } from "../shared/db/done.ts";
import { ScheduleMessage } from "../shared/schedules/due.ts";
import { startFailed, startScheduled } from "../shared/schedules/start.ts";

/** Not what the schedule has come to owe since then. */
const isDone = (ctx: Context, { schedule_id: id, due_at: due }: z.output<typeof ScheduleMessage>) =>
  done(ctx, "schedule", sql`o.id = ${id}::uuid and o.body ->> 'due_at' = ${due}`);

/** Starts a screening that a schedule was due for: late where all that it lacked was the database. */
export const scheduleConsumer = consumer({
  name: "schedule",
  body: ScheduleMessage,
  // The last retry comes about half an hour later. Then the schedule says that the service failed.
  retries: 3,
  untilDone: true,
  timeoutSeconds: 60,
  parallelism: null,
  async handle(ctx, message) {
    await startScheduled(ctx, message);
    await isDone(ctx, message);
  },
  async dead(ctx, message, end) {
    if (end === "unavailable") return;
    await startFailed(ctx, message);
    await isDone(ctx, message);
  },
});
