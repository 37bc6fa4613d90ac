import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { epochAt, epochsFrom } from "../../shared/epochs/calendar.ts";
import { parseEnv } from "../../shared/platform/env.ts";
import { DEVELOPMENT, newSecrets } from "../stack/settings.ts";

const DAY = 86_400;
const times = fc.date({ min: new Date("2026-01-01"), max: new Date("2099-12-31"), noInvalidDate: true });
const lengths = fc.integer({ min: 1, max: DAY });

describe("the calendar of epochs", () => {
  test.each([
    ["2026-11-22T00:00:00.000Z", DAY, "2026-11-22", "2026-11-22T00:00:00.000Z", "2026-11-23T00:00:00.000Z"],
    ["2026-12-31T23:59:59.999Z", DAY, "2026-12-31", "2026-12-31T00:00:00.000Z", "2027-01-01T00:00:00.000Z"],
    ["2026-11-22T09:00:19.999Z", 10, "2026-11-22T09:00:10Z", "2026-11-22T09:00:10.000Z", "2026-11-22T09:00:20.000Z"],
  ])("puts %s with epochs of %i seconds into %s", (time, seconds, name, starts_at, ends_at) => {
    expect(epochAt(new Date(time), seconds)).toEqual({ name, starts_at, ends_at });
  });

  test("has each time in one epoch, and each epoch end where the next begins, a week and five minutes on at least", () => {
    fc.assert(
      fc.property(times, lengths, (time, seconds) => {
        const spans = epochsFrom(time, seconds);
        expect(spans[0]).toEqual(epochAt(time, seconds));
        expect(time.getTime()).toBeGreaterThanOrEqual(Date.parse(spans[0]?.starts_at ?? ""));
        expect(time.getTime()).toBeLessThan(Date.parse(spans[0]?.ends_at ?? ""));
        expect(spans.slice(1).map(({ starts_at }) => starts_at)).toEqual(
          spans.slice(0, -1).map((span) => span.ends_at),
        );
        expect(new Set(spans.map(({ name }) => name)).size).toBe(spans.length);
        const ahead = (Date.parse(spans.at(-1)?.starts_at ?? "") - time.getTime()) / 1000;
        expect(ahead).toBeGreaterThanOrEqual(Math.max(7 * seconds, 300 - seconds));
      }),
      { numRuns: 200 },
    );
  });

  test("may be shortened by a setting, but not in production", async () => {
    const settings = {
      ...DEVELOPMENT,
      ...(await newSecrets()),
      ...Object.fromEntries(
        ["BASE_URL", "FRONTEND_URL", "UPSTASH_REDIS_REST_URL", "QSTASH_URL", "DNS_RESOLVER_URL"].map((name) => [
          name,
          "https://service.example",
        ]),
      ),
      DATABASE_URL: "postgres://service.example/db",
    };
    expect(parseEnv(settings).EPOCH_SECONDS).toBe(DAY);
    expect(parseEnv({ ...settings, EPOCH_SECONDS: "10" }).EPOCH_SECONDS).toBe(10);
    for (const bad of ["0", "-1", "1.5", "86401", "a day"])
      expect(() => parseEnv({ ...settings, EPOCH_SECONDS: bad })).toThrow("EPOCH_SECONDS");
    const production = { ...settings, ENVIRONMENT: "production" };
    expect(parseEnv(production).EPOCH_SECONDS).toBe(DAY);
    expect(() => parseEnv({ ...production, EPOCH_SECONDS: "86399" })).toThrow("EPOCH_SECONDS: must be 86400");
  });
});
