import { describe, expect, test } from "vitest";
import { numeracyAndLogic } from "../../../shared/suites/public/numeracy-and-logic/index.ts";
import { addDays } from "./core-support.ts";
import { readerOf, testSuite } from "./suite-support.ts";

const { keyOf, inputOf } = readerOf(numeracyAndLogic);

/** `value` / `divisor` for whole numbers, rounded to a whole number, half up. */
const halfUp = (value: number, divisor: number) => Math.floor((2 * value + divisor) / (2 * divisor));
const dollars = (cents: number) => (cents / 100).toFixed(2);

testSuite(numeracyAndLogic, ["math", "reasoning"]);

test("there are twenty tasks, half of each domain", () => {
  expect(numeracyAndLogic.tasks.filter(({ domain }) => domain === "math")).toHaveLength(10);
  expect(numeracyAndLogic.tasks).toHaveLength(20);
});

describe("money: the key is what month by month and line by line bookkeeping gives", () => {
  test("studio-rent-steps", () => {
    let [rent, paid] = [1840, 0];
    for (let month = 0; month < 40; month += 1) {
      if (month > 0 && month % 12 === 0) rent = 5 * halfUp(rent * 1035, 5000);
      paid += rent;
    }
    expect(keyOf("studio-rent-steps")).toBe(paid);
  });

  test("line-tax-rounding", () => {
    const { lines } = inputOf<{
      lines: { quantity: number; unit_price_usd: string; discount_percent: number; tax_percent: number }[];
    }>("line-tax-rounding");
    const total = lines.reduce((sum, line) => {
      const list = line.quantity * Number(line.unit_price_usd.replace(".", ""));
      const net = halfUp(list * (100 - line.discount_percent), 100);
      return sum + net + halfUp(net * line.tax_percent, 100);
    }, 0);
    expect(keyOf("line-tax-rounding")).toBe(dollars(total));
  });

  test("credit-line-five-months", () => {
    let balance = 120_000;
    for (const _ of ["Jan", "Feb", "Mar", "Apr", "May"]) {
      balance += halfUp(balance * 15, 1000) - 13_000;
      if (balance > 90_000) balance += 1_200;
    }
    expect(keyOf("credit-line-five-months")).toBe(dollars(balance));
  });

  test("lamp-inspection-budget: the mean over all 220 ways in which the faulty lamps can lie", () => {
    const tests: number[] = [];
    for (let a = 1; a <= 12; a += 1)
      for (let b = a + 1; b <= 12; b += 1) for (let c = b + 1; c <= 12; c += 1) tests.push(Math.min(a, 4));
    expect(tests).toHaveLength(220);
    expect(keyOf("lamp-inspection-budget")).toBeCloseTo((6.6 * tests.reduce((sum, n) => sum + n)) / 220, 9);
  });

  test("lowest-final-mark", () => {
    const quizzes = [78, 92, 64, 88];
    const quizMean = (quizzes.reduce((sum, mark) => sum + mark) - Math.min(...quizzes)) / 3;
    const marks = Array.from({ length: 101 }, (_, mark) => mark);
    const enough = marks.find((exam) => Math.round(0.2 * quizMean + 0.3 * 81 + 0.5 * exam) >= 85);
    expect(keyOf("lowest-final-mark")).toBe(enough);
  });
});

describe("measures: the key is what counting off on the ground and on the clock gives", () => {
  test("paddock-posts-and-wire: posts are set one by one, wire is laid metre by metre", () => {
    let [posts, wire] = [0, 0];
    for (let metre = 0; metre < 2 * (84 + 60); metre += 1) {
      if (metre % 4 === 0 && !(metre > 36 && metre < 44)) posts += 1;
      if (metre < 36 || metre >= 44) wire += 3;
    }
    expect(keyOf("paddock-posts-and-wire")).toEqual({ posts, rolls: Math.ceil(wire / 120) });
  });

  test("two-flights-three-clocks", () => {
    const landed = Date.parse("2026-03-03T23:20+05:45") + (6 * 60 + 50 + 4 * 60 + 35 + 2 * 60 + 15) * 60_000;
    const offset = landed >= Date.parse("2026-03-04T02:00Z") ? 2 : 1;
    const local = new Date(landed + offset * 3_600_000).toISOString();
    expect(keyOf("two-flights-three-clocks")).toBe(local.slice(0, 16).replace("T", " "));
  });

  test("syrup-after-three-steps", () => {
    let [sugar, water] = [0.65 * 240, 0.35 * 240];
    sugar *= 3 / 4;
    water = (water * 3) / 4 + 60;
    sugar = (sugar * 4) / 5 + 0.3 * 48;
    water = (water * 4) / 5 + 0.7 * 48;
    water -= 0.12 * 240;
    expect(keyOf("syrup-after-three-steps")).toBeCloseTo((100 * sugar) / (sugar + water), 2);
  });

  test("calendar-of-tamris: day by day from the first of the year 412", () => {
    const date = { year: 412, month: 1, day: 1 };
    for (let common = "2023-03-01"; common < "2024-11-10"; common = addDays(common, 1)) {
      date.day += 1;
      const length = date.month <= 13 ? 28 : date.year % 4 === 0 ? 2 : 1;
      if (date.day <= length) continue;
      date.day = 1;
      date.month += 1;
      if (date.month > 14) Object.assign(date, { year: date.year + 1, month: 1 });
    }
    const two = (part: number) => String(part).padStart(2, "0");
    expect(keyOf("calendar-of-tamris")).toBe(`${date.year}-${two(date.month)}-${two(date.day)}`);
  });

  test("cistern-with-overflow-seep: in twelfths of a litre, second by second", () => {
    let [twelfths, second] = [600 * 12, 6 * 3600 + 10 * 60];
    for (; twelfths < 18_000 * 12; second += 1) {
      const pumped = second >= 8 * 3600 ? 45 + 75 : 45;
      const seeping = twelfths >= 9_000 * 12 ? 20 : 0;
      twelfths += (pumped - seeping) / 5;
    }
    expect(keyOf("cistern-with-overflow-seep")).toBe(new Date(second * 1000).toISOString().slice(11, 19));
  });
});
