import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cronWords } from "../../../functions/site/parts/cron-words.ts";

describe("a cron expression in words", () => {
  test.each([
    ["0 9 * * 1-5", "at 09:00 on Monday to Friday"],
    ["30 6,18 * * *", "at 06:30 and 18:30 every day"],
    ["0 * * * *", "every hour"],
    ["@hourly", "every hour"],
    ["15 */6 * * *", "every 6 hours, 15 minutes past"],
    ["0 0 1 * *", "at 00:00 on day 1 of the month"],
    ["@weekly", "at 00:00 on Sunday"],
    ["0 12 * * SUN,wed", "at 12:00 on Sunday and Wednesday"],
    ["0 12 * * 7", "at 12:00 on Sunday"],
    ["0 12 1,15 * MON", "at 12:00 on day 1 and 15 of the month and on Monday"],
    ["0 12 * JAN-mar *", "at 12:00 every day in January to March"],
    ["0 12 24 12 *", "at 12:00 on day 24 of the month in December"],
  ])("%s: %s", (cron, words) => {
    expect(cronWords(cron)).toBe(words);
  });

  test.each([
    "0 9 L * *",
    "0 9 * * 5#2",
    "0 9 15W * *",
    "0,30 9 * * *",
    "0 9-17 * * *",
    "0 */5 * * *",
    "0 9 * * +1",
    "",
  ])("has none for %s", (cron) => {
    expect(cronWords(cron)).toBeNull();
  });

  test("is made of anything that is sent", () => {
    const field = fc.stringMatching(/^[0-9A-Za-z*/,?#+@-]{0,6}$/);
    fc.assert(
      fc.property(fc.array(field, { maxLength: 7 }), (fields) => {
        expect(cronWords(fields.join(" ")) ?? "").not.toMatch(/undefined|NaN/);
      }),
    );
  });
});
