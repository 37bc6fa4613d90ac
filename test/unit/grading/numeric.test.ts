import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkTask } from "../../../shared/grading/check.ts";
import { isNear, lastNumeral, soleNumeral } from "../../../shared/grading/number.ts";
import { parseExact } from "../../../shared/platform/exact-json.ts";
import { leastTime } from "../../stack/least-time.ts";
import { scoreOf, verdictOn } from "./support.ts";

describe("the last number of a text", () => {
  test.each<[string, number | null]>([
    ["25", 25],
    ["2 + 23 = 25", 25],
    ["The answer is 25.", 25],
    ["25 apples", 25],
    ["25kg", 25],
    ["approx.25", 25],
    ["is25", 25],
    ["**25**", 25],
    ["_25_ of 30 is _25_", 25],
    ["$\\boxed{25}$", 25],
    ["(25)", 25],
    ["25%", 25],
    ["12.5 %", 12.5],
    ["007", 7],
    // Thousands separators and what only looks like one.
    ["1,234.5", 1234.5],
    ["$1,200", 1200],
    ["1,234,567", 1234567],
    ["1'234", 1234],
    ["1\u00A0234", 1234],
    ["1\u202F234,5", 5],
    ["1 234", 1234],
    ["1 234 567", 1234567],
    ["1\u2009234\u2009567", 1234567],
    ["1\u202F234\u202F567.5", 1234567.5],
    ["1\u00A0234\u00A0567", 1234567],
    ["it costs 12 500 euros", 12500],
    ["-1 000 000", -1e6],
    ["10 20 300", 300],
    ["100 200 3000", 3000],
    ["2.5 100", 100],
    ["0 500", 500],
    ["in 2026 300", 300],
    ["1,00,000", 100000],
    ["₹ 12,34,567.50", 1234567.5],
    ["1_000", 1000],
    ["1_000_000.5", 1000000.5],
    ["x_1_000", 1000],
    ["1_00", 0],
    // Digits of other scripts.
    ["２５", 25],
    ["１，２３４．５", 1234.5],
    ["－７", -7],
    ["٢٥", 25],
    ["١٬٢٣٤٫٥", 1234.5],
    ["\u200E-٧", -7],
    ["۱۲۳", 123],
    ["१,००,०००", 100000],
    ["𝟐𝟓", 25],
    ["1234,567", 567],
    ["1,2345", 2345],
    ["2,5", 5],
    ["0,75", 75],
    ["1.234,56", 56],
    ["3, 4, 5", 5],
    // Currency and signs.
    ["€3.50", 3.5],
    ["-$5", -5],
    ["$-5", -5],
    ["−7", -7],
    ["－7", -7],
    ["x = -7", -7],
    ["x=−7", -7],
    ["+7", 7],
    ["(-7)", -7],
    ["10-25", 25],
    ["10–25", 25],
    ["5 - 3", 3],
    ["answer--25", 25],
    ["f(2)-3", 3],
    // Decimals and scientific notation.
    [".5", 0.5],
    ["-.5", -0.5],
    ["3.0e-4", 3e-4],
    ["3.0E+4", 3e4],
    ["3e−4", 3e-4],
    ["6.02 × 10^23", 6.02e23],
    ["6.02x10^23", 6.02e23],
    ["-1.5 * 10**-3", -1.5e-3],
    ["1.5 \\times 10^{-3}", 1.5e-3],
    ["1.5·10⁻³", 1.5e-3],
    ["10^5", 1e5],
    ["-10⁻³", -1e-3],
    ["2^5", 5],
    ["210^5", 5],
    ["1e999", Number.POSITIVE_INFINITY],
    // Digits at the end of a word count only where nothing else does.
    ["18 g of H2O", 18],
    ["42 for COVID-19", 42],
    ["step_3", 3],
    ["H2O", 2],
    // Of dates, times and versions, the last part.
    ["2026-11-21", 21],
    ["at 10:30", 30],
    ["v1.2.3", 3],
    ["", null],
    ["none", null],
    ["NaN", null],
    ["-Infinity", null],
    ["²", null],
    ["٣", 3],
  ])("%j: %d", (text, number) => {
    expect(lastNumeral(text)?.value ?? null).toBe(number);
  });

  test("is the number that was written last, whatever stands before it", () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
    const prose = fc.array(fc.constantFrom("so", "25", "=", "-", "x", "$4,000", "e", "10^2", "H2O", "."), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(prose, number, fc.constantFrom("", ".", "%", " apples", "\n"), (words, value, after) => {
        expect(lastNumeral(`${words.join(" ")} ${value}${after}`)?.value ?? null).toBe(value);
      }),
    );
  });

  test("reads back any integer with thousands separators", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        expect(lastNumeral(`it is ${value.toLocaleString("en-US")}.`)?.value ?? null).toBe(value);
      }),
    );
  });

  test.each<[string, number | null]>([
    ["25", 25],
    [" 1,234.5 ", 1234.5],
    ["$5", 5],
    ["25%", 25],
    ["6.02e23", 6.02e23],
    ["2,5", null],
    ["25 kg", null],
    ["3-4", null],
    ["", null],
  ])("the sole number of %j: %d", (text, number) => {
    expect(soleNumeral(text)?.value ?? null).toBe(number);
  });
});

describe("numeric", () => {
  test.each([
    [25, "… = 25", 1],
    [5, "25", 0],
    [25, 25, 1],
    [25, 25.0000000001, 1],
    [25, 25.00001, 0],
    ["1,200", "$1200", 1],
    [25, "25%", 1],
    [0.25, "25%", 0],
    [25, { answer: 25 }, 1],
    [25, [1, 25], 1],
    // The comma between numbers of an array parts no thousands, however deep it stands.
    [250, [1, 250], 1],
    ["1250", [1, 250], 0],
    [250, { a: [[1, [1, 250]]] }, 1],
    ["1250", { a: [[1, [1, 250]]] }, 0],
    ["1250", ["1", "1,250"], 1],
    [-250, [1, -250], 1],
    [25, true, 0],
    [25, "no idea", 0],
    [1e12, "1000000000001", 0],
    ["10000000000000000", "10000000000000002", 0],
    // Beyond 2^53, where doubles have gaps.
    ["9007199254740993", "9007199254740993", 1],
    ["9007199254740993", "9007199254740992", 0],
    ["9007199254740993", "9,007,199,254,740,993.0", 1],
    ["9007199254740993", "-9007199254740993", 0],
    ["123456789012345678901234567890", "= 123456789012345678901234567890.", 1],
    ["123456789012345678901234567890", "123456789012345678901234567891", 0],
    ["6.02e23", "602000000000000000000000", 1],
    ["6.02e23", "602000000000000000000001", 0],
    ["1,00,000", "100000", 1],
    ["٢٥", "25", 1],
    [25, "", 0],
  ])("key %j, output %j: %d", (key, output, correctness) => {
    expect(scoreOf({ type: "numeric" }, key, output)).toBe(correctness);
  });

  test.each([
    [{ tolerance: 0.1 }, 0.3, "0.4", 1],
    [{ tolerance: 0.1 }, 0.3, "0.41", 0],
    [{ tolerance: 0 }, 0.3, "0.3", 1],
    [{ tolerance: 0 }, 0.3, "0.30000000001", 0],
    [{ tolerance: 0.01, relative: true }, 200, "202", 1],
    [{ tolerance: 0.01, relative: true }, 200, "202.1", 0],
    [{ tolerance: 0.01, relative: true }, -200, "-198", 1],
    [{ tolerance: 0.01, relative: false }, 200, "202", 0],
    [{ tolerance: 1e308, relative: true }, 1e10, "1e999", 0],
  ])("with %j, key %d, output %s: %d", (options, key, output, correctness) => {
    expect(scoreOf({ type: "numeric", ...options }, key, output)).toBe(correctness);
  });

  test("tolerance is symmetric, and a wider one never fails what a narrower one passed", () => {
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e12, max: 1e12 });
    const width = fc.double({ noNaN: true, min: 0, max: 1e6 });
    fc.assert(
      fc.property(finite, finite, width, width, (a, b, one, other) => {
        expect(isNear(a, b, one)).toBe(isNear(b, a, one));
        if (isNear(a, b, Math.min(one, other))) expect(isNear(a, b, Math.max(one, other))).toBe(true);
      }),
    );
  });

  test("compares whole numbers of any size by their digits, as text or as JSON, however they are written", () => {
    const digits = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
    fc.assert(
      fc.property(digits, fc.bigInt({ min: -3n, max: 3n }), fc.constantFrom(0, 1, 2), (whole, more, tolerance) => {
        const near = more <= BigInt(tolerance) && more >= -BigInt(tolerance);
        const score = scoreOf({ type: "numeric", tolerance }, String(whole), String(whole + more));
        expect(score).toBe(near ? 1 : 0);
        expect(scoreOf({ type: "numeric", tolerance }, String(whole), whole + more)).toBe(score);
      }),
    );
    const ways = (last: number) =>
      [`900719925474099${last}`, `900719925474099${last}.0`, `9.00719925474099${last}e15`, `900719925474099${last}0e-1`]
        .flatMap((written) => [written, parseExact(written)])
        .map((output) => scoreOf({ type: "numeric" }, "9007199254740993", output));
    expect(ways(3)).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
    for (const neighbour of [2, 4]) expect(ways(neighbour)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  });

  test("asks for a key whose digits a JSON number loses as a string", () => {
    const check = (expected_output: string | number, options: { tolerance?: number; relative?: boolean } = {}) =>
      checkTask({ grader: { type: "numeric", ...options }, expected_output });
    expect(check(1e16)).toMatchObject([{ pointer: "/expected_output", code: "invalid_key" }]);
    expect(check("10000000000000001")).toEqual([]);
    expect(check(1e16, { tolerance: 0 })).toHaveLength(1);
    expect(check(1e16, { tolerance: 1e9 })).toEqual([]);
    expect(check(6.02e23, { tolerance: 0.01, relative: true })).toEqual([]);
    expect(check(2 ** 53 - 1)).toEqual([]);
  });

  test("reads an answer of a mebibyte in time, whatever it repeats", async () => {
    for (const piece of ["1,00", "1 000", "1,00,", "1_000", " 100", "٢٥", "1, ", "000 ", "9", "0."]) {
      const text = piece.repeat(2 ** 20 / piece.length);
      expect(await leastTime(2000, () => scoreOf({ type: "numeric" }, 25, text)), piece).toBeLessThan(2000);
    }
  });

  test("tells what it read", () => {
    expect(verdictOn({ type: "numeric" }, 25, "maybe 24").explanation).toContain("was read as 24");
    expect(verdictOn({ type: "numeric" }, 25, "none").explanation).toBe("No number was found in the answer.");
  });
});
