const MINUTES_PER_DAY = 1440;

/** The days of the week in lower case, Sunday first, as `Date` counts them. */
export const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** The minutes since midnight of a time HH:MM. */
export function minutesOf(time: string): number {
  const [hours = Number.NaN, minutes = Number.NaN] = time.split(":").map(Number);
  return hours * 60 + minutes;
}

/** The time HH:MM of `minutes` since midnight, a day later where they are negative. */
export function clockOf(minutes: number): string {
  const within = wrapDay(minutes);
  return [Math.floor(within / 60), within % 60].map((part) => String(part).padStart(2, "0")).join(":");
}

/** `minutes` moved by whole days into one day. */
export function wrapDay(minutes: number): number {
  return ((minutes % MINUTES_PER_DAY) + MINUTES_PER_DAY) % MINUTES_PER_DAY;
}

/** The date YYYY-MM-DD one day after `date`. */
export function dayAfter(date: string): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + MINUTES_PER_DAY * 60_000).toISOString().slice(0, 10);
}

/** The day of the week of a date YYYY-MM-DD, as in `WEEKDAYS`. */
export function weekdayOf(date: string): string {
  return WEEKDAYS[new Date(`${date}T00:00:00Z`).getUTCDay()] ?? "";
}
