const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const DAY_MS = 86_400_000;

/** Sentences as one paragraph. */
export function prose(...sentences: string[]): string {
  return sentences.join(" ");
}

/** Lines as one text. */
export function lines(...rows: string[]): string {
  return rows.join("\n");
}

/** `HH:MM` of a number of minutes since midnight, taken modulo a day. */
export function clock(minutes: number): string {
  const inDay = ((minutes % 1440) + 1440) % 1440;
  return `${String(Math.floor(inDay / 60)).padStart(2, "0")}:${String(inDay % 60).padStart(2, "0")}`;
}

/** A whole number of cents as dollars with two decimals. */
export function money(cents: number): string {
  return (cents / 100).toFixed(2);
}

/** `YYYY-MM-DD` of a number of days since 1970-01-01. */
export function isoDate(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** `3 March 2027` of a number of days since 1970-01-01. */
export function longDate(day: number): string {
  const date = new Date(day * DAY_MS);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

/** Days from 1970-01-01 to a day of a year; the month counts from 1. */
export function dayNumber(year: number, month: number, day: number): number {
  return Date.UTC(year, month - 1, day) / DAY_MS;
}
