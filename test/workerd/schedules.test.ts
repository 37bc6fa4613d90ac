import { describe, expect, it } from "vitest";
import { firstInstant, nextInstant } from "../../shared/schedules/cron.ts";

describe("the time zones of the runtime", () => {
  it.each([
    ["30 2 * * *", "Europe/Berlin", "2027-03-27T12:00Z", "2027-03-28T01:00:00.000Z"],
    ["30 2 * * *", "America/New_York", "2027-11-06T12:00Z", "2027-11-07T07:30:00.000Z"],
    ["45 1 * * *", "Australia/Lord_Howe", "2027-04-03T12:00Z", "2027-04-03T14:45:00.000Z"],
  ])("know that %s in %s after %s is %s", (cron, zone, after, expected) => {
    expect(nextInstant(cron, zone, new Date(after))?.toISOString()).toBe(expected);
  });

  it("tell where a change of the clocks brings two firings within an hour, and what is no zone", () => {
    const now = new Date("2026-11-21T09:00:00.000Z");
    expect(() => firstInstant("45 * * * *", "Europe/Berlin", now)).not.toThrow();
    expect(() => firstInstant("45 * * * *", "Australia/Lord_Howe", now)).toThrow("hourly");
    expect(() => firstInstant("45 * * * *", "Europe/Atlantis", now)).toThrow("IANA");
  });
});
