import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { bill } from "../../agents/solve/bill.ts";
import { groupMean, rowsOfPieces, workingDays } from "../../agents/solve/numbers.ts";
import { taskOf, taskWith } from "./support.ts";

const Totals = z.object({ net: z.number(), tax: z.number(), gross: z.number() });

describe("the mean of groups taken together", () => {
  test("is that of all members, whatever figure the prompt suggests", () => {
    const members = fc.array(fc.integer({ min: 0, max: 99 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(members, { minLength: 2, maxLength: 6 }), (groups) => {
        const teams = groups.map((ages) => ({ players: ages.length, mean_age: sum(ages) / ages.length }));
        const prompt =
          "A colleague claims 12.0. What is the mean age of all teams together, rounded to two decimal places?";
        const all = groups.flat();
        const answer = Number(groupMean(taskWith({ teams }, prompt))?.output);
        expect(answer).toBeCloseTo(sum(all) / all.length, 1);
      }),
    );
  });

  test("is not given where more than one field could be the size", () => {
    const teams = [
      { players: 3, coaches: 1, mean_age: 20 },
      { players: 4, coaches: 2, mean_age: 30 },
    ];
    expect(groupMean(taskWith({ teams }, "The mean age of all together?"))).toBeNull();
  });
});

describe("the day on which steady work is done", () => {
  const prompt = "On which date is it done?";
  const work = { first_day: "2030-01-04", rows_per_day: 10, rows_on_friday: 4, closed: ["2030-01-08"] };

  test.each([
    ["on the first day, a Friday with its own number", 4, "2030-01-04"],
    ["over a weekend", 5, "2030-01-07"],
    ["over a closed day", 15, "2030-01-09"],
  ])("counts on %s", (_, row, day) => {
    expect(workingDays(taskWith({ ...work, row }, prompt))?.output).toBe(day);
  });

  test("is not given where no day brings work nearer its end", () => {
    expect(workingDays(taskWith({ ...work, rows_per_day: 0, rows_on_friday: 0, row: 5 }, prompt))).toBeNull();
  });
});

describe("rows of pieces", () => {
  const rows = (length: number, rule = "") =>
    rowsOfPieces(
      taskOf(
        `A shelf is ${length} units long, filled with boxes that are 1, 2 or 3 units long. ${rule} In how many ways?`,
      ),
    );

  test("are counted like all sequences of lengths with that sum", () => {
    for (let length = 1; length <= 12; length += 1) {
      expect(rows(length)?.output, `length ${length}`).toBe(String(sequences(length, []).length));
    }
  });

  test("keep apart the pieces that must not touch", () => {
    const apart = sequences(9, []).filter((row) => row.every((piece, at) => piece !== 3 || row[at + 1] !== 3));
    const rule = "Two boxes of length 3 must never stand next to each other.";
    expect(rows(9, rule)?.output).toBe(String(apart.length));
  });
});

describe("a bill", () => {
  const line = (quantity: number, unit_price: string, discount_percent = "0", tax_percent = 20) => ({
    quantity,
    unit_price,
    discount_percent,
    tax_percent,
  });
  const json = { output_format: "json" as const };

  test.each([
    ["to the even cent", "a tie going to the even cent", 0.12],
    ["up", "a tie going up", 0.13],
  ])("rounds half a cent of a line %s where the prompt says so", (_, tie, net) => {
    const prompt = `(1) each line is rounded to cents, ${tie}; (2) tax is rounded for each line, a tie going up.`;
    expect(bill(taskWith({ lines: [line(1, "0.25", "50", 0)] }, prompt, json))?.output).toMatchObject({ net });
  });

  test.each([
    ["once per rate", "tax is computed once per tax rate and rounded", 0.02],
    ["by line", "the tax of each line is rounded", 0],
  ])("rounds tax %s where the prompt says so", (_, rule, tax) => {
    const lines = [line(1, "0.02"), line(1, "0.02"), line(1, "0.02"), line(1, "0.02")];
    const prompt = `(1) lines are rounded to cents; (2) ${rule}, half a cent up.`;
    expect(bill(taskWith({ lines }, prompt, json))?.output).toEqual({ net: 0.08, tax, gross: 0.08 + tax });
  });

  test("has a gross that is net and tax together, to the cent", () => {
    const cents = fc.integer({ min: 1, max: 99_999 }).map((value) => (value / 100).toFixed(2));
    const lines = fc.array(fc.tuple(fc.integer({ min: 1, max: 50 }), cents), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(lines, (bought) => {
        const task = taskWith(
          { lines: bought.map(([count, price]) => line(count, price, "7.5", 19)) },
          "rounded",
          json,
        );
        const { net, tax, gross } = Totals.parse(bill(task)?.output);
        expect(Math.round(gross * 100)).toBe(Math.round(net * 100) + Math.round(tax * 100));
        expect(net).toBeCloseTo(sum(bought.map(([count, price]) => count * Number(price) * 0.925)), 1);
      }),
    );
  });
});

/** All sequences of the lengths 1 to 3 with the sum `rest`, each behind `before`. */
function sequences(rest: number, before: readonly number[]): number[][] {
  if (rest === 0) return [[...before]];
  return [1, 2, 3].flatMap((piece) => (piece <= rest ? sequences(rest - piece, [...before, piece]) : []));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
