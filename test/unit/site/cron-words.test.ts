import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cronWords } from "../../../functions/site/parts/cron-words.ts";
import { instants } from "../../../shared/schedules/cron.ts";

const WORDS =
  /^(?:every (?:(\d+) )?hours?(?:, (\d+) minutes? past)?|at (.+?))(?: every day)?(?: on day (.+?) of the month)?(?:(?: and)? on ([A-Z].+?))?(?: in (.+))?$/;
const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
const MINUTES = ["0", "1", "30"];
const MONTHS = "January February March April".split(" ");

/** Whether a list in words, such as "Monday to Friday and Sunday", has the name that stands at this place of all. */
function covers(list: string, all: readonly string[], place: number): boolean {
  return list.split(/, | and /).some((part) => {
    const [from = -1, to = from] = part.split(" to ").map((name) => all.indexOf(name));
    return to < from ? place >= from || place <= to : place >= from && place <= to;
  });
}

/** Whether a moment, by UTC, is one of those that the words of an expression mean. */
function meantBy(words: string): (moment: Date) => boolean {
  const found = WORDS.exec(words);
  if (found === null) throw new Error(`"${words}" is not understood`);
  const [, step = "1", past = "0", times, days, weekdays, months] = found;
  return (moment) => {
    const [day, weekday] = [String(moment.getUTCDate()), moment.getUTCDay()];
    const either = [
      ...(days === undefined ? [] : [days.split(/, | and /).includes(day)]),
      ...(weekdays === undefined ? [] : [covers(weekdays, DAYS, weekday)]),
    ];
    return (
      (times === undefined
        ? moment.getUTCHours() % Number(step) === 0 && moment.getUTCMinutes() === Number(past)
        : times.split(/, | and /).includes(moment.toISOString().slice(11, 16))) &&
      (either.length === 0 || either.includes(true)) &&
      (months === undefined || covers(months, MONTHS, moment.getUTCMonth()))
    );
  };
}

describe("a cron expression in words", () => {
  test.each([
    ["0 9 * * 1-5", "at 09:00 on Monday to Friday"],
    ["30 6,18 * * *", "at 06:30 and 18:30 every day"],
    ["0 * * * *", "every hour"],
    ["@hourly", "every hour"],
    ["15 */6 * * *", "every 6 hours, 15 minutes past"],
    ["0 0 1 * *", "at 00:00 on day 1 of the month"],
    ["@weekly", "at 00:00 on Sunday"],
    ["0 12 * * SUN,wed", "at 12:00 on Sunday and Wednesday"],
    ["0 12 * * 7", "at 12:00 on Sunday"],
    ["0 12 1,15 * MON", "at 12:00 on day 1 and 15 of the month and on Monday"],
    ["0 12 * JAN-mar *", "at 12:00 every day in January to March"],
    ["0 12 24 12 *", "at 12:00 on day 24 of the month in December"],
    ["1 * * * *", "every hour, 1 minute past"],
    ["00 * * * *", "every hour"],
    ["05 */2 * * *", "every 2 hours, 5 minutes past"],
    ["0 */1 * * *", "every hour"],
    ["0 */24 * * *", "at 00:00 every day"],
    ["0 18,6,6 * * *", "at 06:00 and 18:00 every day"],
    ["0 9 * * 0-7", "at 09:00 every day"],
    ["0 9 * * SUN-SAT", "at 09:00 every day"],
    ["0 9 * * MON-FRI,0,6", "at 09:00 every day"],
    ["0 9 15 * 0-7", "at 09:00 every day"],
    ["0 9 */1 * MON", "at 09:00 every day"],
    ["0 * * * 1-7", "every hour"],
    ["0 9 * * 0,7", "at 09:00 on Sunday"],
    ["0 9 * * 1-1", "at 09:00 on Monday"],
    ["0 9 * * SAT-SUN", "at 09:00 on Saturday to Sunday"],
    ["0 9 01 1-12 *", "at 09:00 on day 1 of the month"],
    ["0 9 * JAN-JAN *", "at 09:00 every day in January"],
  ])("%s: %s", (cron, words) => {
    expect(cronWords(cron)).toBe(words);
  });

  test.each([
    "0 9 L * *",
    "0 9 * * 5#2",
    "0 9 15W * *",
    "0,30 9 * * *",
    "0 9-17 * * *",
    "0 */5 * * *",
    "0 9 * * +1",
    "0 9 * 0 *",
    "0 9 * * 0-99999999999",
    "",
  ])("has none for %s", (cron) => {
    expect(cronWords(cron)).toBeNull();
  });

  test("says when it fires", () => {
    const field = (...values: string[]) => fc.constantFrom("*", "*/1", ...values);
    const fields = fc.tuple(
      fc.constantFrom("00", "01", ...MINUTES),
      field("*/2", "*/24", "9", "09", "18,6", "0,0"),
      field("1", "01", "15,1,15"),
      field("1", "JAN-mar", "1-12", "2,02", "JAN-JAN"),
      field("0-7", "1-7", "SUN-SAT", "SAT-SUN", "7", "0,7", "1-1", "MON,wed", "5-7", "0-5,6", "sat"),
    );
    const [start, end] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 3, 10)];
    const moments = Array.from({ length: (end - start) / 3_600_000 }, (_, hour) =>
      MINUTES.map((minute) => new Date(start + hour * 3_600_000 + Number(minute) * 60_000)),
    ).flat();
    fc.assert(
      fc.property(fields, (parts) => {
        const cron = parts.join(" ");
        const fired = [...instants(cron, "UTC", new Date(start - 1)).take(60)].filter((one) => one.getTime() < end);
        expect(moments.filter(meantBy(cronWords(cron) ?? "")).slice(0, 60)).toEqual(fired);
      }),
    );
  });

  test("is made of anything that is sent", () => {
    const field = fc.stringMatching(/^[0-9A-Za-z*/,?#+@-]{0,6}$/);
    fc.assert(
      fc.property(fc.array(field, { maxLength: 7 }), (fields) => {
        expect(cronWords(fields.join(" ")) ?? "").not.toMatch(/undefined|NaN/);
      }),
    );
  });
});
