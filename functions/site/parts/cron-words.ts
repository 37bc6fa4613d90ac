import { counted, joined } from "./in-words.ts";

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
/** A step of one, which leaves nothing out. */
const EACH = /^\*\/0*1$/;
const EVERY_DAY = "every day";

/** The place among `names` of one value of a field: a number, counted from `first` on, or the first three letters. */
function placeOf(value: string, names: readonly string[], first: number): number | null {
  const place = NUMBER.test(value)
    ? Number(value) - first
    : names.findIndex((name) => name.slice(0, 3).toLowerCase() === value.toLowerCase());
  return place >= 0 && place <= names.length ? place : null;
}

/** The places that a part of a field covers, such as `MON-FRI` or `3`; none for what has no plain words. */
function placesOf(part: string, names: readonly string[], first: number): number[] {
  const [from = null, to = from, ...more] = part.split("-").map((end) => placeOf(end, names, first));
  if (from === null || to === null || more.length > 0) return [];
  // A Sunday that ends a range by its name comes after the Saturday.
  const last = /-sun$/i.test(part) ? names.length : to;
  return Array.from({ length: Math.max(0, last - from + 1) }, (_, step) => (from + step) % names.length);
}

/** A field of names, such as `MON-FRI` or `1,3`; empty where it leaves none out, null for what has no plain words. */
function listed(field: string, names: readonly string[], first: number): string | null {
  if (field === "*" || EACH.test(field)) return "";
  const parts = field.split(",").map((part) => placesOf(part, names, first));
  if (parts.some((places) => places.length === 0)) return null;
  if (new Set(parts.flat()).size === names.length) return "";
  const called = parts.map((places) => {
    const ends = places.length === 1 ? places : [places[0], places.at(-1)];
    return ends.map((place) => names[place ?? 0]).join(" to ");
  });
  return joined([...new Set(called)]);
}

/** The numbers of a field, each once, in their order; null where it is no list of numbers. */
function numbersOf(field: string): number[] | null {
  return NUMBERS.test(field) ? [...new Set(field.split(",").map(Number))].toSorted((a, b) => a - b) : null;
}

const padded = (value: number): string => String(value).padStart(2, "0");

function timeOf(minute: string, hour: string): string | null {
  if (!NUMBER.test(minute)) return null;
  const past = Number(minute) === 0 ? "" : `, ${counted(Number(minute), "minute")} past`;
  const step = hour === "*" ? 1 : Number(/^\*\/(\d+)$/.exec(hour)?.[1]);
  if (step === 1) return `every hour${past}`;
  if (step < 24 && 24 % step === 0) return `every ${step} hours${past}`;
  const hours = step === 24 ? [0] : numbersOf(hour);
  return hours && `at ${joined(hours.map((one) => `${padded(one)}:${padded(Number(minute))}`))}`;
}

function monthDaysOf(day: string): string | null {
  if (EACH.test(day)) return EVERY_DAY;
  const days = numbersOf(day);
  return days && `on day ${joined(days.map(String))} of the month`;
}

function weekdaysOf(weekday: string): string | null {
  const names = listed(weekday, DAYS, 0);
  return names === "" ? EVERY_DAY : names && `on ${names}`;
}

function daysOf(day: string, weekday: string): string | null {
  // Given both ways, it fires on either.
  const ways = [...(day === "*" ? [] : [monthDaysOf(day)]), ...(weekday === "*" ? [] : [weekdaysOf(weekday)])];
  if (ways.includes(null)) return null;
  return ways.length === 0 || ways.includes(EVERY_DAY) ? EVERY_DAY : ways.join(" and ");
}

/**
 * A cron expression that can be read in plain English: `at 09:00 on Monday to Friday`. Null for one whose words would be no
 * easier to read than itself.
 */
export function cronWords(cron: string): string | null {
  const expression = NICKNAMES[cron.trim().toLowerCase()] ?? cron.trim();
  const [minute = "", hour = "", day = "", month = "", weekday = "", ...more] = expression.split(/\s+/);
  const months = listed(month, MONTHS, 1);
  const [time, days] = [timeOf(minute, hour), daysOf(day, weekday)];
  if (more.length > 0 || time === null || days === null || months === null) return null;
  const when = days === EVERY_DAY && time.startsWith("every") ? time : `${time} ${days}`;
  return months === "" ? when : `${when} in ${months}`;
}
