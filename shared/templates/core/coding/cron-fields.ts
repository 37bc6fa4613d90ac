import { drawUntil } from "../../random.ts";
import { clock } from "../../text.ts";
import { defineTemplate } from "../../types.ts";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
const MACHINES = ["pump", "backup", "siren", "mixer", "feeder", "sprinkler", "report", "scanner"] as const;

/** A pattern of one of several texts. */
const oneOf = (...texts: (string | number)[]): string => `(?:${texts.join("|")})`;
/** A number of two digits, of which a leading zero may be left out. */
const digits = (number: number): string => (number < 10 ? `0?${number}` : String(number));
const from = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i);

/** Traps: steps count from the first hour and not from midnight, minutes stand first, the week begins at 0. */
export const cronFields = defineTemplate(
  { id: "coding-cron-fields", version: 1, sample: "core-coding-cron-fields" },
  (random) =>
    drawUntil(() => {
      const step = random.int(3, 6);
      const count = random.int(3, 5);
      const start = random.int(1, 9);
      const last = start + step * (count - 1);
      // A step from midnight must not come out right, and one more step has to fit into the day.
      if (start % step === 0 || last + step > 23) return undefined;
      const minute = random.int(1, 59);
      const [monday, until] = [random.int(0, 3), random.int(4, 6)];
      // A whole week needs no field at all.
      if (until - monday === 6) return undefined;
      const hours = Array.from({ length: count }, (_, i) => start + step * i);
      const ends = from(last, last + step - 1).map(digits);
      const listed = from(monday, until);
      const week = `${monday}-${until}`;
      const [company] = random.companies(1);
      const times = hours.map((hour) => clock(60 * hour + minute));
      return {
        prompt: `A crontab schedule has five fields parted by single spaces: minute, hour, day of the month, month, day of the week (0 is Sunday, 6 is Saturday). A field is * (not restricted), a number, a range a-b, a list a,b,c in ascending order, or a stepped range a-b/n. Write the schedule for the ${random.pick(MACHINES)} of ${company} that fires at ${times.slice(0, -1).join(", ")} and ${times.at(-1)} on every ${DAYS[monday]} to ${DAYS[until]}, and at no other time. Use digits, not names, and * for a field that is not restricted. Answer with the five fields alone, on one line.`,
        output_format: "text",
        grader: {
          type: "regex",
          pattern: `^\\s*\`?${digits(minute)} ${oneOf(hours.map(digits).join(","), `${digits(start)}-${oneOf(...ends)}/${step}`)} \\* \\* ${oneOf(week, listed.join(","), `${week}/1`)}\`?\\s*$`,
        },
        expected_output: null,
        wrong_answers: [
          `${minute} */${step} * * ${week}`,
          `${minute} ${start}-${last} * * ${week}`,
          `${hours.join(",")} ${minute} * * ${week}`,
          `${minute} ${start}-${last + step}/${step} * * ${week}`,
          `${minute} ${start}-${last}/${step} * * ${monday + 1}-${until + 1}`,
          `${minute} ${start}-${last}/${step} * * ${monday}-${until - 1}`,
          `* ${hours.join(",")} * * ${week}`,
        ],
      };
    }),
);
