import { randomUUID } from "node:crypto";
import { Cron } from "croner";
import type { Ticker } from "./engine.ts";
import { messageView } from "./log.ts";
import { draft, type Headers } from "./message.ts";
import type { Store, Table } from "./store.ts";
import { BadRequest } from "./values.ts";

/** A message published by a cron expression. Times in Unix ms; `nextAt` is undefined when no further one comes. */
export interface Schedule {
  readonly id: string;
  readonly cron: string;
  readonly destination: string;
  readonly headers: Headers;
  readonly body: Buffer;
  readonly queue: string | undefined;
  readonly createdAt: number;
  readonly paused: boolean;
  readonly lastAt: number | undefined;
  readonly nextAt: number | undefined;
}

/** The schedules, and the ticker that publishes what they ask for. */
export interface Schedules extends Ticker {
  readonly table: Table<Schedule>;
  /** Creates the schedule, or replaces the one of the id that the headers name. @returns its id. @throws BadRequest */
  put(request: Pick<Schedule, "destination" | "headers" | "body">, now: number): string;
  /** @returns false when there is no such schedule. */
  setPaused(id: string, paused: boolean, now: number): boolean;
}

/**
 * The first time after `now` (Unix ms) that a cron expression names, in UTC or in the zone of its `CRON_TZ=` prefix.
 * @throws BadRequest for a malformed expression or an unknown zone.
 */
function nextTime(expression: string, now: number): number | undefined {
  const [, zone = "UTC", pattern = expression] = /^CRON_TZ=(\S+)\s+(.+)$/.exec(expression) ?? [];
  try {
    return new Cron(pattern, { timezone: zone, mode: "5-part" }).nextRun(new Date(now))?.getTime();
  } catch (error) {
    throw new BadRequest(`invalid Upstash-Cron: ${expression}: ${String(error)}`);
  }
}

/** The schedules that `store` holds. One that came due while nobody looked fires once, not once for each time. */
export function openSchedules(store: Store): Schedules {
  const table = store.table<Schedule>("schedules");
  const running = (): Schedule[] => [...table.values()].filter(({ paused }) => !paused);

  return {
    table,
    put({ destination, headers, body }, now) {
      const cron = headers["upstash-cron"];
      if (cron === undefined) throw new BadRequest("Upstash-Cron is missing");
      const queue = headers["upstash-queue-name"];
      draft({ destination, headers, body, queue }, now);
      const id = headers["upstash-schedule-id"] ?? `scd_${randomUUID().replaceAll("-", "")}`;
      const { createdAt = now, paused = false, lastAt } = table.get(id) ?? {};
      const nextAt = nextTime(cron, now);
      table.set(id, { id, cron, destination, headers, body, queue, createdAt, paused, lastAt, nextAt });
      return id;
    },
    setPaused(id, paused, now) {
      const schedule = table.get(id);
      if (schedule === undefined) return false;
      table.set(id, { ...schedule, paused, nextAt: nextTime(schedule.cron, now) });
      return true;
    },
    next() {
      const times = running().flatMap(({ nextAt }) => nextAt ?? []);
      return times.length > 0 ? Math.min(...times) : undefined;
    },
    fire(now) {
      const due = running().filter(({ nextAt }) => nextAt !== undefined && nextAt <= now);
      return due.map((schedule) => {
        table.set(schedule.id, { ...schedule, lastAt: now, nextAt: nextTime(schedule.cron, now) });
        return draft({ ...schedule, scheduleId: schedule.id }, now);
      });
    },
  };
}

/** A schedule as QStash's API shows it. */
export function scheduleView(schedule: Schedule): Record<string, unknown> {
  const { messageId: _id, ...view } = messageView(
    draft({ ...schedule, scheduleId: schedule.id }, schedule.createdAt).message,
  );
  return {
    ...view,
    cron: schedule.cron,
    destination: schedule.destination,
    retries: view["maxRetries"],
    isPaused: schedule.paused,
    lastScheduleTime: schedule.lastAt,
    nextScheduleTime: schedule.nextAt,
  };
}
