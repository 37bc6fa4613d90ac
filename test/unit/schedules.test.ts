import { describe, expect, it } from "vitest";
import { Problem } from "../../shared/platform/problem.ts";
import { firstInstant, instants, nextInstant } from "../../shared/schedules/cron.ts";

const MINUTE = 60_000;
const HALF_HOUR = 30 * MINUTE;
const DAY = 48 * HALF_HOUR;
const YEAR = [Date.UTC(2027, 0, 1), Date.UTC(2028, 0, 1)] as const;
const NOW = new Date("2026-11-21T09:00:00.000Z");
const iso = (at: number | Date): string => new Date(at).toISOString();

/** What a clock shows at an instant. */
interface Shown {
  at: number;
  date: string;
  day: number;
  weekday: number;
  minutes: number;
}

/** What the clocks of a zone show at every minute of the year: offsets change on the half hour of UTC, if they do. */
function* clockOf(zone: string): Generator<Shown> {
  const format = new Intl.DateTimeFormat("en-GB", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
  for (let half = YEAR[0]; half < YEAR[1]; half += HALF_HOUR) {
    const [day = 0, month = 0, year = 0, hour = 0, minute = 0] = format.format(half).split(/\D+/).map(Number);
    const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
    for (let past = 0; past < HALF_HOUR; past += MINUTE)
      yield { at: half + past, date: `${month}-${day}`, day, weekday, minutes: hour * 60 + minute + past / MINUTE };
  }
}

/** The first minute of each day, of those that count, at which the clock shows a time or, as it skips it, a later one. */
function daily(clock: readonly Shown[], time: number, counts: (shown: Shown) => boolean = () => true): string[] {
  const reached = clock.filter((shown) => shown.minutes >= time && counts(shown));
  return reached.filter(({ date }, index) => date !== reached[index - 1]?.date).map(({ at }) => iso(at));
}

/** When each expression fires, by what the clock shows. */
const EXPRESSIONS: Record<string, (clock: readonly Shown[]) => string[]> = {
  "0 2 * * *": (clock) => daily(clock, 120),
  "30 2 * * *": (clock) => daily(clock, 150),
  "0 9 * * 1-5": (clock) => daily(clock, 540, ({ weekday }) => weekday >= 1 && weekday <= 5),
  "15 0 1 * *": (clock) => daily(clock, 15, ({ day }) => day === 1),
  "45 1,13 * * *": (clock) => clock.filter(({ minutes }) => minutes % 720 === 105).map(({ at }) => iso(at)),
};
const HOURLY = (clock: readonly Shown[]) => clock.filter(({ minutes }) => minutes % 60 === 0).map(({ at }) => iso(at));

function firings(cron: string, zone: string, from: number, until: number): string[] {
  const found: string[] = [];
  for (const instant of instants(cron, zone, new Date(from - 1))) {
    if (instant.getTime() >= until) return found;
    found.push(iso(instant));
  }
  return found;
}

describe.each(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])("a year by the clocks of %s", (zone) => {
  const clock = [...clockOf(zone)];
  const changes = clock.filter(
    ({ minutes }, index) => index > 0 && (minutes - (clock[index - 1]?.minutes ?? 0) + 1440) % 1440 !== 1,
  );

  it("has two changes of the clocks", () => {
    expect(changes).toHaveLength(2);
  });

  // The zone's first day has begun before the year of UTC does, so that its times are not all seen.
  it.each(Object.keys(EXPRESSIONS))("has exactly the instants of %s", (cron) => {
    const begin = YEAR[0] + DAY;
    const expected = EXPRESSIONS[cron]?.(clock).filter((at) => at >= iso(begin));
    expect(expected?.length).toBeGreaterThanOrEqual(11);
    expect(firings(cron, zone, begin, YEAR[1])).toEqual(expected);
  });

  it("has exactly the instants of 0 * * * * in the weeks before and after each change", () => {
    for (const { at } of changes) {
      const [begin, end] = [at - 7 * DAY, at + 7 * DAY];
      const expected = HOURLY(clock.filter((shown) => shown.at >= begin && shown.at < end));
      expect(expected.length).toBeGreaterThanOrEqual(14 * 24 - 1);
      expect(firings("0 * * * *", zone, begin, end)).toEqual(expected);
    }
  });
});

describe("the clock's gaps and repetitions", () => {
  it.each([
    [
      "30 2 * * *",
      "Europe/Berlin",
      "2027-03-27T12:00Z",
      "2027-03-28T01:00:00.000Z",
      "a skipped time: at the first moment after",
    ],
    [
      "30 2 * * *",
      "America/New_York",
      "2027-03-13T12:00Z",
      "2027-03-14T07:00:00.000Z",
      "a skipped time: at the first moment after",
    ],
    [
      "0 2 * * *",
      "Australia/Lord_Howe",
      "2027-10-02T12:00Z",
      "2027-10-02T15:30:00.000Z",
      "a skipped half hour: at its end",
    ],
    [
      "30 23 * * *",
      "America/Nuuk",
      "2027-03-27T12:00Z",
      "2027-03-28T01:00:00.000Z",
      "the skipped last hour of a day: at the first moment of the next",
    ],
    [
      "30 23 * * *",
      "America/Nuuk",
      "2027-03-28T01:00Z",
      "2027-03-29T00:30:00.000Z",
      "the day after it: by the new clocks",
    ],
    [
      "15 2,14 * * *",
      "Australia/Lord_Howe",
      "2027-10-02T12:00Z",
      "2027-10-03T03:15:00.000Z",
      "one skipped time of several: left out",
    ],
    [
      "30 2 * * *",
      "Europe/Berlin",
      "2027-10-30T12:00Z",
      "2027-10-31T00:30:00.000Z",
      "a time that comes twice: at the first",
    ],
    [
      "30 2 * * *",
      "Europe/Berlin",
      "2027-10-31T00:30Z",
      "2027-11-01T01:30:00.000Z",
      "a time that comes twice: not at the second",
    ],
    ["30 * * * *", "Europe/Berlin", "2027-10-31T00:30Z", "2027-10-31T01:30:00.000Z", "every hour: at the second too"],
    [
      "45 1 * * *",
      "Australia/Lord_Howe",
      "2027-04-03T12:00Z",
      "2027-04-03T14:45:00.000Z",
      "half an hour that comes twice: at the first",
    ],
  ])("%s in %s after %s is %s (%s)", (cron, zone, after, expected) => {
    expect(nextInstant(cron, zone, new Date(after))?.toISOString()).toBe(expected);
  });

  it("are none of an expression or a zone that is not known any more", () => {
    expect(nextInstant("0 9 * * *", "Europe/Atlantis", NOW)).toBeNull();
    expect(nextInstant("61 * * * *", "UTC", NOW)).toBeNull();
  });
});

describe("an expression that somebody gives", () => {
  const refusal = (cron: string, zone = "UTC"): Problem | string => {
    try {
      return firstInstant(cron, zone, NOW).toISOString();
    } catch (error) {
      return error as Problem;
    }
  };

  it.each([
    ["0 9 * * 1-5", "Europe/Berlin", "2026-11-23T08:00:00.000Z"],
    ["0 9 * * MON-FRI", "US/Eastern", "2026-11-23T14:00:00.000Z"],
    ["@daily", "UTC", "2026-11-22T00:00:00.000Z"],
    ["@hourly", "Australia/Lord_Howe", "2026-11-21T10:00:00.000Z"],
    ["59 * * * *", "Antarctica/Troll", "2026-11-21T09:59:00.000Z"],
    ["0 0 29 2 *", "UTC", "2028-02-29T00:00:00.000Z"],
    ["0 0 L * *", "Asia/Kolkata", "2026-11-29T18:30:00.000Z"],
    ["0 0 * * 5#2", "UTC", "2026-12-11T00:00:00.000Z"],
  ])("%s in %s fires first at %s", (cron, zone, expected) => {
    expect(refusal(cron, zone)).toBe(expected);
  });

  it.each([
    ["* * * * *", "more often than hourly"],
    ["*/59 * * * *", "more often than hourly"],
    ["0,59 3 * * *", "more often than hourly"],
    ["0,30 0 29 2 *", "more often than hourly"],
    ["61 * * * *", "Invalid value for minute: 61"],
    ["0 24 * * *", "Invalid value for hour: 24"],
    ["0 0 30 2 *", "never fires"],
    ["0 0 31 2,4,6 *", "never fires"],
    ["0 0 * *", "cron expression"],
    ["0 0 9 * * *", "exactly 5 parts"],
    ["@reboot", "@reboot"],
    ["", "cron expression"],
    ["１ * * * *", "illegal characters"],
    ["0 9 * * FUNDAY", "illegal characters"],
    ["0 9-7 * * *", "From value is larger"],
    ["*/0 * * * *", "stepping: 0"],
  ])("%s is refused with a reason and an example", (cron, reason) => {
    const problem = refusal(cron) as Problem;
    expect(problem).toBeInstanceOf(Problem);
    expect(problem.extras.errors).toMatchObject([{ pointer: "/cron", code: "validation_failed" }]);
    expect(problem.message).toContain(reason);
    expect(problem.message).toContain('"0 9 * * 1-5"');
  });

  it("is refused where only a change of the clocks brings two firings within an hour", () => {
    for (const cron of ["45 * * * *", "30 1,3 * * *"]) {
      for (const zone of ["UTC", "Europe/Berlin"]) expect(refusal(cron, zone)).toBeTypeOf("string");
      expect(refusal(cron, "Australia/Lord_Howe")).toMatchObject({ code: "validation_failed" });
    }
    expect(refusal("15 * * * *", "Australia/Lord_Howe")).toBeTypeOf("string");
  });

  it.each(["Mars/Olympus", "", "Europe", "+99:00", "+02:00", "Europe/Berlin\u0000"])(
    "is refused with the zone %j",
    (zone) => {
      expect((refusal("0 9 * * *", zone) as Problem).extras.errors).toMatchObject([{ pointer: "/timezone" }]);
    },
  );
});
