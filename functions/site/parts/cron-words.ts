const NICKNAMES: Record<string, string> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
const MONTHS = "January February March April May June July August September October November December".split(" ");

const NUMBER = /^\d+$/;
const NUMBERS = /^\d+(?:,\d+)*$/;

/** One value of a field as it is called: by its number from `first` on, or by its first three letters. */
function named(value: string, names: readonly string[], first: number): string | undefined {
  if (NUMBER.test(value)) return names[(Number(value) - first) % names.length];
  return value.length === 3 ? names.find((name) => name.toLowerCase().startsWith(value.toLowerCase())) : undefined;
}

/** A field of names, such as `MON-FRI` or `1,3`; null for what has no plain words. */
function listed(field: string, names: readonly string[], first: number): string | null {
  const parts = field.split(",").map((part) => part.split("-").map((end) => named(end, names, first)));
  if (parts.some((ends) => ends.length > 2 || ends.includes(undefined))) return null;
  return joined(parts.map((ends) => ends.join(" to ")));
}

function joined(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

const padded = (value: string): string => value.padStart(2, "0");

function timeOf(minute: string, hour: string): string | null {
  if (!NUMBER.test(minute)) return null;
  const past = minute === "0" ? "" : `, ${minute} minutes past`;
  const step = /^\*\/(\d+)$/.exec(hour)?.[1];
  if (hour === "*") return `every hour${past}`;
  if (step !== undefined && 24 % Number(step) === 0) return `every ${step} hours${past}`;
  if (!NUMBERS.test(hour)) return null;
  return `at ${joined(hour.split(",").map((one) => `${padded(one)}:${padded(minute)}`))}`;
}

function daysOf(day: string, weekday: string): string | null {
  const weekdays = weekday === "*" ? null : listed(weekday, DAYS, 0);
  const days = NUMBERS.test(day) ? `on day ${joined(day.split(","))} of the month` : null;
  if (day === "*") return weekday === "*" ? "every day" : weekdays && `on ${weekdays}`;
  // Given both ways, it fires on either.
  return weekday === "*" ? days : weekdays && days && `${days} and on ${weekdays}`;
}

/**
 * A cron expression that can be read in plain English: `at 09:00 on Monday to Friday`. Null for one whose words would be no
 * easier to read than itself.
 */
export function cronWords(cron: string): string | null {
  const expression = NICKNAMES[cron.trim().toLowerCase()] ?? cron.trim();
  const [minute = "", hour = "", day = "", month = "", weekday = "", ...more] = expression.split(/\s+/);
  const months = month === "*" ? "" : listed(month, MONTHS, 1);
  const [time, days] = [timeOf(minute, hour), daysOf(day, weekday)];
  if (more.length > 0 || time === null || days === null || months === null) return null;
  const when = days === "every day" && time.startsWith("every") ? time : `${time} ${days}`;
  return months === "" ? when : `${when} in ${months}`;
}
