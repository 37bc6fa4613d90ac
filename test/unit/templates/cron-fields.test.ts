import { Cron } from "croner";
import { expect, test } from "vitest";
import { cronFields } from "../../../shared/templates/core/coding/cron-fields.ts";
import { instanceOf, passesInstance } from "./draws.ts";
import { allGroups, groups } from "./solvers/support.ts";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
/** 2 March 2031 is a Sunday. */
const SUNDAY = Date.UTC(2031, 2, 2);

/** When a schedule fires in one week: the weekday, counted from Sunday, and the time. */
function week(schedule: string): string[] {
  return new Cron(schedule, { timezone: "UTC", paused: true })
    .nextRuns(7 * 24, new Date(SUNDAY - 1000))
    .filter((run) => run.getTime() < SUNDAY + 7 * 86_400_000)
    .map((run) => `${run.getUTCDay()} ${run.toISOString().slice(11, 16)}`);
}

test.each(Array.from({ length: 6 }, (_, number) => number))(
  "draw %i takes a schedule in the form that is asked for exactly if it fires at the wanted times",
  { timeout: 60_000 },
  (number) => {
    const instance = instanceOf(cronFields, number);
    const times = allGroups(/(\d\d:\d\d)/g, instance.prompt).map(([time = ""]) => time);
    const [from, to] = groups(/on every (\w+) to (\w+),/, instance.prompt).map((day) => DAYS.indexOf(day));
    const wanted = [0, 1, 2, 3, 4, 5, 6]
      .filter((day) => day >= (from ?? 0) && day <= (to ?? 0))
      .flatMap((day) => times.map((time) => `${day} ${time}`));
    const hours = times.map((time) => Number(time.slice(0, 2)));
    const [first = 0, second = 0, last = 0] = [hours[0], hours[1], hours.at(-1)];
    const step = second - first;
    const minute = Number(times[0]?.slice(3));
    const ranges = [-1, 0, 1, step - 1, step].map((more) => `${first}-${last + more}/${step}`);
    const hourFields = [hours.join(","), ...ranges, `*/${step}`, `${first}-${last}`];
    const days = [`${from}-${to}`, `${from}-${to}/1`, "*", `${from}-${(to ?? 0) - 1}`];
    for (const schedule of hourFields.flatMap((hour) => days.map((day) => `${minute} ${hour} * * ${day}`))) {
      const right = JSON.stringify(week(schedule)) === JSON.stringify(wanted);
      expect({ schedule, passes: passesInstance(instance, { output: schedule }) }).toEqual({ schedule, passes: right });
    }
  },
);
