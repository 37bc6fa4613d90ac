import { consumer } from "../shared/queue/consumer.ts";
import { ScheduleMessage } from "../shared/schedules/due.ts";
import { startFailed, startScheduled } from "../shared/schedules/start.ts";

/** Starts a screening that a schedule was due for. */
export const scheduleConsumer = consumer({
  name: "schedule",
  body: ScheduleMessage,
  retries: 3,
  timeoutSeconds: 60,
  parallelism: null,
  handle: startScheduled,
  dead: startFailed,
});
