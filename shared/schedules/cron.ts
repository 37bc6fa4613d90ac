import { Cron } from "croner";
import { bodyProblem, type Problem } from "../platform/problem.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;

/** How far ahead the clock changes of a zone are looked at. */
const WEEKS_AHEAD = 5 * 52;

/** One minute and one hour. */
const FIXED_TIME = /^\d+\s+\d+\s/;

/** No clock change is longer: two times that a change brings closer together lie within this distance of it. */
const AROUND_CHANGE_MS = 4 * HOUR_MS;

/**
 * The instants after `after` at which a cron expression of five fields, or a nickname such as `@daily`, fires by the
 * clocks of an IANA time zone. With one minute and one hour (`30 2 * * *`) it fires once a day: at the first moment after
 * a gap of the clock that swallows the time, and at the first of two times that are the same. With any other it follows
 * the clock: times that it skips are left out, times that come twice fire twice. Throws for an expression or a zone that
 * is not known.
 */
export function* instants(cron: string, zone: string, after: Date): Generator<Date, void> {
  if (FIXED_TIME.test(cron)) return yield* fixedInstants(cron, zone, after.getTime());
  const expression = new Cron(cron, { mode: "5-part", timezone: primaryName(zone) });
  for (let next = expression.nextRun(after); next !== null; next = expression.nextRun(next)) yield next;
}

/**
 * The instants of an expression with one minute and one hour. croner leaves such a time out where the gap that swallows it
 * ends the day, as in America/Nuuk: so it says what the clocks are to show, as if they were those of UTC.
 */
function* fixedInstants(cron: string, zone: string, after: number): Generator<Date, void> {
  const shownAt = clockOf(zone);
  const expression = new Cron(cron, { mode: "5-part", timezone: "UTC" });
  // From before what is shown at `after`, since the clocks may be put back then.
  const from = new Date(shownAt(after) - AROUND_CHANGE_MS);
  for (let next = expression.nextRun(from); next !== null; next = expression.nextRun(next)) {
    const shown = next.getTime();
    const offsets = [shown - DAY_MS, shown + DAY_MS].map((around) => shownAt(around) - around);
    const [early, late] = [shown - Math.max(...offsets), shown - Math.min(...offsets)];
    // Where the clocks skip it, or change between the two, the first moment that shows as much.
    const at = shownAt(early) >= shown ? early : firstMinute(early, late, (instant) => shownAt(instant) >= shown);
    if (at > after) yield new Date(at);
  }
}

/** How the clocks of zones are read: to make one takes longer than all that is read by it. */
const FORMATS = new Map<string, Intl.DateTimeFormat>();
const MOST_FORMATS = 100;

/** What the clocks of a zone show at an instant, to the second, as if it were UTC. */
function clockOf(zone: string): (instant: number) => number {
  const format = formatOf(zone);
  return (instant) => Date.parse(`${format.format(instant).replace(" ", "T")}Z`);
}

/** The first of the whole minutes from `early` to `late` at which something holds that holds at `late` and not at `early`. */
function firstMinute(early: number, late: number, holds: (instant: number) => boolean): number {
  while (late - early > MINUTE_MS) {
    const middle = early + Math.floor((late - early) / 2 / MINUTE_MS) * MINUTE_MS;
    if (holds(middle)) late = middle;
    else early = middle;
  }
  return late;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = FORMATS.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("sv", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
  if (FORMATS.size >= MOST_FORMATS) FORMATS.clear();
  FORMATS.set(zone, format);
  return format;
}

/** The first of `instants`; null where there is none, or where the expression or the zone is not known (any more). */
export function nextInstant(cron: string, zone: string, after: Date): Date | null {
  try {
    return instants(cron, zone, after).next().value ?? null;
  } catch {
    return null;
  }
}

/**
 * The first instant after `now` of an expression that a caller sends. Throws 422 where the expression or the zone can't be
 * read, where it never fires, and where it ever fires twice within an hour, even if only when the clocks change.
 */
export function firstInstant(cron: string, zone: string, now: Date): Date {
  try {
    primaryName(zone);
  } catch {
    throw bodyProblem("validation_failed", "/timezone", "Name an IANA time zone, such as Europe/Berlin or UTC.");
  }
  let first: Date | undefined;
  try {
    first = instants(cron, zone, now).next().value ?? undefined;
  } catch (error) {
    const reason = (error instanceof Error ? error.message : "").replaceAll(/^CronPattern: |\.$/g, "");
    throw cronProblem(`This can't be read as a cron expression: ${reason}.`);
  }
  if (first === undefined) throw cronProblem("This never fires: there is no such day.");
  if (firesWithinHour(cron, zone, now)) {
    throw cronProblem("This fires more often than hourly, if only when the clocks change.");
  }
  return first;
}

function cronProblem(what: string): Problem {
  const advice = 'Send five fields (minute, hour, day, month, weekday), such as "0 9 * * 1-5".';
  return bodyProblem("validation_failed", "/cron", `${what} ${advice}`);
}

/**
 * Whether two firings are ever less than an hour apart. While the clock runs evenly, an expression with several minutes
 * fires on all of them within an hour, so that any three firings in a row show it; around each change of the clock all
 * firings are looked at.
 */
function firesWithinHour(cron: string, zone: string, now: Date): boolean {
  const starts = [now, ...clockChanges(zone, now).map((change) => new Date(change.getTime() - AROUND_CHANGE_MS))];
  return starts.some((start) => {
    const end = start.getTime() + 2 * AROUND_CHANGE_MS;
    let seen = 0;
    let previous = -Infinity;
    for (const instant of instants(cron, zone, start)) {
      if (instant.getTime() - previous < HOUR_MS) return true;
      previous = instant.getTime();
      seen += 1;
      if (seen >= 3 && previous > end) return false;
    }
    return false;
  });
}

/** The times from `from` on, to the minute, at which the zone's offset changes. Two within a week count as none. */
function clockChanges(zone: string, from: Date): Date[] {
  const shownAt = clockOf(zone);
  const first = Math.floor(from.getTime() / MINUTE_MS) * MINUTE_MS;
  const changes: Date[] = [];
  for (let week = 0; week < WEEKS_AHEAD; week += 1) {
    const before = first + week * WEEK_MS;
    const after = before + WEEK_MS;
    const old = shownAt(before) - before;
    const isChanged = (at: number): boolean => shownAt(at) - at !== old;
    if (isChanged(after)) changes.push(new Date(firstMinute(before, after, isChanged)));
  }
  return changes;
}

/** The one name of a zone that may be spelled in many ways: the parser keeps something for every name that it gets. */
function primaryName(zone: string): string {
  if (/^[+-]/.test(zone)) throw new RangeError("an offset is no zone");
  return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone;
}
