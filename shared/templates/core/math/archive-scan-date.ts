import { drawUntil } from "../../random.ts";
import { dayNumber, isoDate, longDate } from "../../text.ts";
import { defineTemplate } from "../../types.ts";
import { PLACES } from "../../words.ts";

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
const SLOW = ["Tuesday", "Wednesday", "Thursday", "Friday"] as const;

/** The weekday of a number of days since 1970-01-01, which was a Thursday. */
const weekdayOf = (day: number) => WEEKDAYS[(day + 4) % 7] ?? "Sunday";
const isWorkday = (day: number) => !["Saturday", "Sunday"].includes(weekdayOf(day));
const dated = (day: number) => `${weekdayOf(day)} ${longDate(day)}`;

interface Plan {
  first: number;
  usual: number;
  slow: number;
  slowDay: string;
  closed: readonly number[];
}

/** The day on which a page is scanned, and the last page of that day. */
function scanDay({ first, usual, slow, slowDay, closed }: Plan, page: number): { day: number; last: number } {
  let last = 0;
  for (let day = first; ; day += 1) {
    if (!isWorkday(day) || closed.includes(day)) continue;
    last += weekdayOf(day) === slowDay ? slow : usual;
    if (last >= page) return { day, last };
  }
}

/** Traps: days of fewer pages, two closed days on the way, and a page at the very end or beginning of a day's work. */
export const archiveScanDate = defineTemplate(
  { id: "math-archive-scan-date", version: 1, sample: "core-math-archive-scan-date" },
  (random) =>
    drawUntil(() => {
      const start = dayNumber(random.int(2028, 2043), random.int(1, 12), random.int(1, 28));
      const first = isWorkday(start) ? start : start + 2;
      const [near, far] = [first + random.int(3, 10), first + random.int(14, 25)];
      const usual = 5 * random.int(7, 14);
      const slow = usual - 5 * random.int(2, 4);
      const slowDay = random.pick(SLOW);
      const plan: Plan = { first, usual, slow, slowDay, closed: [near, far] };
      const { last } = scanDay(plan, usual * random.int(19, 24) + random.int(0, usual));
      const page = last + random.pick([0, 0, 1, 1, 2 - usual]);
      const key = scanDay(plan, page).day;
      const wrong = [
        scanDay({ ...plan, closed: [] }, page).day,
        scanDay({ ...plan, slow: usual }, page).day,
        scanDay({ ...plan, closed: [near] }, page).day,
        scanDay(plan, page + usual).day,
        scanDay({ ...plan, slow: usual, closed: [] }, page).day,
      ];
      if (![near, far].every(isWorkday) || weekdayOf(near) === weekdayOf(far) || key - far < 2) return undefined;
      if (slowDay === weekdayOf(near) || slowDay === weekdayOf(far) || wrong.includes(key)) return undefined;
      const place = random.pick(PLACES);
      return {
        prompt: `The archive of ${place} scans a bound register page by page, beginning with page 1 on its first working day, ${dated(first)}. Working days are Monday to Friday, except ${dated(near)} and ${dated(far)}, when the archive is closed. It scans ${usual} pages on every working day, apart from each ${slowDay}, when the scanner is serviced in the afternoon and only ${slow} pages are done. On which date is page ${page} scanned? Answer with the date alone, as YYYY-MM-DD.`,
        input: {
          first_day: isoDate(first),
          first_page: 1,
          pages_per_day: usual,
          [`pages_on_${slowDay.toLowerCase()}`]: slow,
          closed: [isoDate(near), isoDate(far)],
          page,
        },
        output_format: "text",
        grader: { type: "exact" },
        expected_output: isoDate(key),
        wrong_answers: wrong.map(isoDate),
      };
    }),
);
