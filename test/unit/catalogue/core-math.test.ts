import { describe, expect, test } from "vitest";
import { addDays, inputOf, keyOf } from "./core-support.ts";

describe("core-math-ferry-reserve", () => {
  test("the key is what a voyage sailed leg by leg leaves", () => {
    const input = inputOf<{
      legs: { distance: number; unit: "km" | "nmi" }[];
      litres_per_km: number;
      litres_per_departure: number;
      litres_per_arrival: number;
      tank_litres: number;
      reserve_percent: number;
    }>("core-math-ferry-reserve");
    const sail = (fuel: number, leg: (typeof input.legs)[number]) => {
      const metres = leg.distance * (leg.unit === "nmi" ? 1852 : 1000);
      return fuel - input.litres_per_departure - (metres / 1000) * input.litres_per_km - input.litres_per_arrival;
    };
    const reserve = (input.tank_litres * input.reserve_percent) / 100;
    let fuel = input.tank_litres;
    for (;;) {
      const after = [...input.legs, ...input.legs.toReversed()].reduce(sail, fuel);
      if (after < reserve) break;
      fuel = after;
    }
    expect(Math.round((fuel - reserve) * 10) / 10).toBe(keyOf("core-math-ferry-reserve"));
  });
});

describe("core-math-invoice-rounding", () => {
  test("the key follows from whole numbers under the three rounding rules", () => {
    type Line = { quantity: number; unit_price: string; discount_percent: string; tax_percent: number };
    const { lines } = inputOf<{ lines: Line[] }>("core-math-invoice-rounding");
    const thousandths = (decimal: string) => BigInt(Math.round(Number(decimal) * 1000));
    const halfEven = (amount: bigint, unit: bigint) => {
      const [whole, rest] = [amount / unit, (amount % unit) * 2n];
      return rest > unit || (rest === unit && whole % 2n === 1n) ? whole + 1n : whole;
    };
    const perRate = new Map<number, bigint>();
    for (const line of lines) {
      const amount =
        BigInt(line.quantity) * thousandths(line.unit_price) * (100_000n - thousandths(line.discount_percent));
      perRate.set(line.tax_percent, (perRate.get(line.tax_percent) ?? 0n) + halfEven(amount, 1_000_000n));
    }
    const net = [...perRate.values()].reduce((sum, cents) => sum + cents, 0n);
    const tax = [...perRate].reduce((sum, [rate, cents]) => sum + (cents * BigInt(rate) + 50n) / 100n, 0n);
    const euro = (cents: bigint) => Number(cents) / 100;
    expect({ net: euro(net), tax: euro(tax), gross: euro(net + tax) }).toEqual(keyOf("core-math-invoice-rounding"));
  });
});

describe("core-math-archive-scan-date", () => {
  const input = inputOf<{
    first_day: string;
    pages_per_day: number;
    pages_on_friday: number;
    closed: string[];
    page: number;
  }>("core-math-archive-scan-date");
  const weekday = (date: string) => new Date(`${date}T00:00:00Z`).getUTCDay();

  test("the weekdays that the prompt names are right", () => {
    expect([input.first_day, ...input.closed].map(weekday)).toEqual([3, 4, 1]);
  });

  test("the key is the day on which the count of pages reaches the page", () => {
    let date = addDays(input.first_day, -1);
    for (let pages = 0; pages < input.page; ) {
      date = addDays(date, 1);
      if (weekday(date) % 6 === 0 || input.closed.includes(date)) continue;
      pages += weekday(date) === 5 ? input.pages_on_friday : input.pages_per_day;
    }
    expect(date).toBe(keyOf("core-math-archive-scan-date"));
  });
});

describe("core-math-slab-rows", () => {
  test("the key is the number of rows when all are written out", () => {
    const rows = (length: number): number[][] =>
      length === 0
        ? [[]]
        : [1, 2, 4]
            .filter((slab) => slab <= length)
            .flatMap((slab) => rows(length - slab).map((row) => [slab, ...row]));
    const allowed = rows(11).filter((row) => !row.some((slab, index) => slab === 4 && row[index + 1] === 4));
    expect(allowed.length).toBe(keyOf("core-math-slab-rows"));
  });
});
