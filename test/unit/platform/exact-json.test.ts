import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ExactJson, parseExact, stringifyExact } from "../../../shared/platform/exact-json.ts";
import { leastTime } from "../../stack/least-time.ts";

const unsafe = fc.bigInt({ min: 2n ** 53n, max: 10n ** 300n }).chain((size) => fc.constantFrom(size, -size));
/** Strings that hold what tells numbers from strings. */
const text = fc
  .array(fc.constantFrom('"', "\\", ",", ":", "[", "-", "9007199254740993", "1e99", "é"))
  .map((x) => x.join(""));
const { value: anyExact } = fc.letrec<{ value: ExactJson }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.oneof(unsafe, text, fc.constant(null), fc.boolean(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    fc.array(tie("value")),
    fc.dictionary(fc.oneof(text, fc.constantFrom("2", "10", "__proto__")), tie("value")),
  ),
}));

describe("JSON with whole numbers of any size", () => {
  test("is read as it was written, digit by digit, and doubles as JSON.parse reads them", () => {
    fc.assert(
      fc.property(anyExact, (value) => {
        const again = parseExact(stringifyExact(value));
        expect(stringifyExact(again)).toBe(stringifyExact(value));
        const rounded = (_key: string, item: unknown): unknown => (typeof item === "bigint" ? Number(item) : item);
        expect(JSON.stringify(again, rounded)).toBe(JSON.stringify(JSON.parse(stringifyExact(value))));
      }),
      { numRuns: 500 },
    );
  });

  test.each<[string, ExactJson]>([
    ["9007199254740993", 9007199254740993n],
    [" [-9007199254740993 ,9007199254740991] ", [-9007199254740993n, 2 ** 53 - 1]],
    ["[9007199254740993.0, 90071992547409930e-1]", [9007199254740993n, 9007199254740993n]],
    ["[9007199254740992.0, 9007199254740993.5]", [2 ** 53, 2 ** 53 + 2]],
    ["-9.007199254740993e15", -9007199254740993n],
    ["[9.007199254740993e15, 1e20, 100000000000000000000]", [9007199254740993n, 1e20, 10n ** 20n]],
    // What is written as a double's own decimal form is that double, and so is what would be far longer than it is written.
    [
      "[1e23, 1.2345678901234567e30, 1234567890123456789e289]",
      [1e23, 1.2345678901234567e30, Number("1234567890123456789e289")],
    ],
    ["12345678901234567.89e13", 123456789012345678900000000000n],
    ['{"2": 9007199254740993, "1": 1, "2": 9007199254740995}', { "1": 1, "2": 9007199254740995n }],
    [
      '["9007199254740993", "\\"9007199254740993", 9007199254740993]',
      ["9007199254740993", '"9007199254740993', 9007199254740993n],
    ],
    ["9".repeat(400), Number.POSITIVE_INFINITY],
    ["0.12345678901234567", Number("0.12345678901234567")],
  ])("%s", (json, value) => {
    expect(parseExact(json)).toEqual(value);
  });

  test.each(["", "[9007199254740993", "09007199254740993", "9007199254740993.", "[9007199254740993,]", "NaN"])(
    "what is not JSON is refused: %j",
    (json) => {
      expect(() => parseExact(json)).toThrow(SyntaxError);
    },
  );

  test("a mebibyte is read in time, however deep or tricky", async () => {
    const size = 2 ** 20;
    for (const json of [
      `${"[".repeat(size / 2 - 16)}9007199254740993${"]".repeat(size / 2 - 16)}`,
      `[${"9007199254740993,".repeat(size / 17)}1]`,
      `["9007199254740993"${',""'.repeat(size / 3)}]`,
      `"${'\\"'.repeat(size / 2)}9007199254740993"`,
      "9".repeat(size),
      `[${"12345678901234567e280,".repeat(size / 22)}1]`,
      `1${"0".repeat(size)}.${"0".repeat(16)}e-${size - 20}`,
      `0.${"0".repeat(size)}12345678901234567e${size + 30}`,
    ]) {
      expect(await leastTime(3000, () => parseExact(json))).toBeLessThan(3000);
    }
  });
});
