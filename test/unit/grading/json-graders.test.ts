import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Answer, type GraderVersion, grade } from "../../../shared/grading/grade.ts";
import { canonical, depthWithin, readJson } from "../../../shared/grading/json.ts";
import type { Grader, Json } from "../../../shared/grading/schema.ts";
import { anyJson, scoreOf, taskOf, verdictOn } from "./support.ts";

describe("the JSON of an answer", () => {
  test.each<[Json, Json | undefined]>([
    ['{"a": 1}', { a: 1 }],
    ['  {"a": 1}\n', { a: 1 }],
    ['```json\n{"a": 1}\n```', { a: 1 }],
    ["```\n[1]\n```\n", [1]],
    ["```json\r\n[1]\r\n```", [1]],
    ["25", 25],
    [{ a: 1 }, { a: 1 }],
    ['Here it is:\n```json\n{"a": 1}\n```', undefined],
    ["```json\n[1]\n```\n```json\n[2]\n```", undefined],
    ["```[1]```", undefined],
    ["```", undefined],
    ["{'a': 1}", undefined],
    ["", undefined],
    ["[".repeat(100_000), undefined],
    ["[".repeat(65) + "]".repeat(65), undefined],
  ])("%j", (output, value) => {
    expect(readJson(output)).toEqual(value);
  });

  test("a limit of depth counts arrays and objects, scalars not", () => {
    expect(depthWithin(1, 0)).toBe(true);
    expect(depthWithin([{ a: 1 }], 2)).toBe(true);
    expect(depthWithin([{ a: [] }], 2)).toBe(false);
  });

  test("canonical texts are equal exactly for equal values", () => {
    const shuffled = (value: Json): Json =>
      Array.isArray(value)
        ? value.map(shuffled)
        : value !== null && typeof value === "object"
          ? Object.fromEntries(
              Object.entries(value)
                .toReversed()
                .map(([key, child]) => [key, shuffled(child)]),
            )
          : value;
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(canonical(shuffled(value))).toBe(canonical(value));
        expect(JSON.parse(canonical(value))).toEqual(value);
      }),
    );
  });
});

describe("set_f1", () => {
  test.each<[Json, Json, number]>([
    [["a1", "b1"], ["b1", "a1"], 1],
    [["a1", "b1"], '["B1", "A1."]', 1],
    [["a1", "b1"], "a1, b1", 1],
    [["a1", "b1"], "- a1\n- b1\n", 1],
    [["a1", "b1"], "1. a1\r\n2) b1", 1],
    [["a1", "b1"], '```json\n["a1", "b1"]\n```', 1],
    [["a1", "b1"], "a1, a1, b1", 1],
    ["a1, b1", ["a1", "b1"], 1],
    [["a1", "b1"], "a1", 2 / 3],
    [["a1", "b1"], "a1, c1", 1 / 2],
    [["a1", "b1"], "a1, b1, c1, d1", 2 / 3],
    [["a1", "b1"], "c1", 0],
    [[1, 2.5, true], "1, 2.5, true", 1],
    [[-1], "1", 0],
    [[], [], 1],
    [[], "[]", 1],
    [["a1"], [], 0],
    [[], "a1", 0],
    [[], "", 0],
    [["a1"], { a1: true }, 0],
    [["a1"], null, 0],
    [[{ x: 1, y: 2 }], [{ y: 2, x: 1 }], 1],
  ])("key %j, output %j: %d", (key, output, correctness) => {
    expect(scoreOf({ type: "set_f1" }, key, output)).toBeCloseTo(correctness, 12);
  });

  test("another separator replaces both default ones", () => {
    expect(scoreOf({ type: "set_f1", separator: ";" }, ["Paris, France", "Rome"], "Rome; Paris, France")).toBe(1);
    expect(scoreOf({ type: "set_f1", separator: " | " }, ["a1", "b1"], "b1 | a1")).toBe(1);
  });

  const items = fc.array(fc.stringMatching(/^[b-f][0-9]$/u), { maxLength: 6 });

  test("F1 is symmetric, and neither order, case nor repetition matter", () => {
    fc.assert(
      fc.property(items, items, (one, other) => {
        const f1 = scoreOf({ type: "set_f1" }, one, other);
        expect(scoreOf({ type: "set_f1" }, other, one)).toBe(f1);
        expect(
          scoreOf(
            { type: "set_f1" },
            one,
            [...other, ...other].toReversed().map((item) => item.toUpperCase()),
          ),
        ).toBe(f1);
      }),
    );
  });

  test("F1 is the harmonic mean of precision and recall", () => {
    fc.assert(
      fc.property(items, items, (key, answer) => {
        const [expected, answered] = [new Set(key), new Set(answer)];
        const common = [...answered].filter((item) => expected.has(item)).length;
        fc.pre(common > 0);
        const [precision, recall] = [common / answered.size, common / expected.size];
        const f1 = (2 * precision * recall) / (precision + recall);
        expect(scoreOf({ type: "set_f1" }, key, answer)).toBeCloseTo(f1, 12);
      }),
    );
  });

  test("names the items that were not expected", () => {
    const { explanation } = verdictOn({ type: "set_f1" }, ["a1"], "a1, zz");
    expect(explanation).toBe('Of 2 items in the answer, 1 are among the 1 expected. Not expected: "zz".');
  });
});

describe("json_fields", () => {
  const plain = { type: "json_fields" } as const;

  test.each<[Json, Json, number]>([
    [{ a: 1, b: "x" }, { b: "x", a: 1 }, 1],
    [{ a: 1, b: "x" }, '{"a": 1.0, "b": "x", "more": true}', 1],
    [{ a: 1, b: "x" }, '```json\n{"a": 1, "b": "x"}\n```', 1],
    [{ a: 1, b: "x" }, { a: 1 }, 1 / 2],
    [{ a: 1, b: "x" }, { a: 1, b: "X" }, 1 / 2],
    [{ a: 1, b: "x" }, { a: "1", b: ["x"] }, 0],
    [{ a: 0.3 }, { a: 0.1 + 0.2 }, 1],
    [{ a: { b: { c: [1, { d: null }] } } }, { a: { b: { c: [1, { d: null }] } } }, 1],
    [{ a: { b: 1 } }, { a: { b: 1, c: 2 } }, 0],
    [{ a: { b: 1, c: 2 } }, { a: { c: 2, b: 1 } }, 1],
    [{ a: [1, 2] }, { a: [2, 1] }, 0],
    [{ a: [1, 2] }, { a: [1, 2, 3] }, 0],
    [{ a: null }, { a: null }, 1],
    [{ a: null }, {}, 0],
    [{ a: [] }, { a: {} }, 0],
    [{ toString: 1 }, {}, 0],
    [{ constructor: 1 }, { constructor: 1 }, 1],
    [JSON.parse('{"__proto__": 1}'), "{}", 0],
    [JSON.parse('{"__proto__": 1}'), '{"__proto__": 1}', 1],
    [{ a: 1 }, [{ a: 1 }], 0],
    [{ a: 1 }, "a: 1", 0],
    [{ a: 1 }, 1, 0],
    [{ a: 1 }, "", 0],
  ])("key %j, output %j: %d", (key, output, correctness) => {
    expect(scoreOf(plain, key, output)).toBe(correctness);
  });

  test.each<[Json, number]>([
    [{ price: 10.05, tags: ["b", "a"], note: "n" }, 1],
    [{ price: 10.05, tags: ["a", "b"] }, 1],
    [{ price: 10.2, tags: ["a", "b"] }, 1 / 2],
    [{ price: 10, tags: ["a", "a"] }, 1 / 2],
    [{ price: 10, tags: ["a", "b"], note: "other" }, 2 / 3],
    [{ price: 10, tags: ["a", "b"], note: null }, 2 / 3],
  ])("tolerance, unordered arrays and an optional field: %j gives %d", (output, correctness) => {
    const grader = { ...plain, fields: { price: { tolerance: 0.1 }, note: { optional: true } }, unordered: ["tags"] };
    expect(scoreOf(grader, { price: 10, tags: ["a", "b"], note: "n" }, output)).toBeCloseTo(correctness, 12);
  });

  test("a tolerance holds for every number of its field, in unordered arrays too", () => {
    const fields = { points: { tolerance: 0.5 } };
    expect(scoreOf({ ...plain, fields }, { points: { x: [1, 2] } }, { points: { x: [1.5, 1.5] } })).toBe(1);
    expect(
      scoreOf({ ...plain, fields, unordered: ["points"] }, { points: [1, 2, 9] }, { points: [9.4, 2.4, 1.4] }),
    ).toBe(1);
    expect(
      scoreOf({ ...plain, fields, unordered: ["points"] }, { points: [1, 2, 9] }, { points: [9.4, 2.6, 1.4] }),
    ).toBe(0);
  });

  test("a tolerance holds in the objects of unordered arrays, too, since version 7", () => {
    const fields = { lines: { tolerance: 0.5 } };
    const grader = { ...plain, fields, unordered: ["lines"] };
    const key = { lines: [{ id: 1, price: 10 }, 7, { id: 1, price: 10.4 }, [3]] };
    const passed = (lines: Json, version?: GraderVersion) =>
      grade(taskOf(grader, key), { output: { lines } }, version).passed;
    // What fits both has to leave each its own.
    const right = [[3.2], { price: 10.8, id: 1 }, { id: 1, price: 9.9 }, 7.1];
    expect([passed(right), passed(right, "6")]).toEqual([true, false]);
    expect(passed([[3.2], { price: 10.8, id: 1 }, { id: 1, price: 10.8 }, 7.1])).toBe(false);
    expect(passed([[3.2], { price: 10, id: "1" }, { id: 1, price: 10.4 }, 7.1])).toBe(false);
    expect(scoreOf({ ...plain, unordered: ["a"] }, { a: [{ x: 0.3 }] }, { a: [{ x: 0.1 + 0.2 }] })).toBe(1);
  });

  test("an object equals itself with its keys in any order, an unordered array itself in any order", () => {
    const value = fc.dictionary(fc.string({ minLength: 1, maxLength: 3 }), anyJson, { minKeys: 1, maxKeys: 5 });
    fc.assert(
      fc.property(value, (key) => {
        fc.pre(Object.keys(key).length > 0);
        const reversed = Object.fromEntries(Object.entries(key).toReversed());
        expect(scoreOf(plain, key, JSON.stringify(reversed))).toBe(1);
      }),
    );
    fc.assert(
      fc.property(fc.array(anyJson, { maxLength: 6 }), (list) => {
        expect(scoreOf({ ...plain, unordered: ["a"] }, { a: list }, { a: list.toReversed() })).toBe(1);
        expect(scoreOf({ ...plain, unordered: ["a"] }, { a: list }, { a: [...list, null] })).toBe(0);
      }),
    );
  });

  test("names what differs and what is missing, without the expected values", () => {
    const { explanation } = verdictOn(plain, { a: "secret value", b: 2, c: 3 }, { a: 7, b: 2 });
    expect(explanation).toBe('1 of 3 fields are right. Different: "a" (number instead of string). Missing: "c".');
    expect(verdictOn(plain, { toString: 1 }, {}).explanation).toBe('0 of 1 fields are right. Missing: "toString".');
  });
});

describe("whole numbers beyond 2^53 in an answer", () => {
  const big = 9007199254740993n;
  const call = (value: bigint | number) => [{ name: "find", arguments: { id: value } }];
  test.each<[string, Grader, Json, Json, Answer, number]>([
    ["are equal to no smaller key", { type: "json_fields" }, { id: 5 }, null, { output: { id: big } }, 0],
    [
      "are within a tolerance",
      { type: "json_fields", fields: { id: { tolerance: 3 } } },
      { id: 2 ** 53 - 1 },
      null,
      { output: { id: big } },
      1,
    ],
    [
      "or not",
      { type: "json_fields", fields: { id: { tolerance: 1 } } },
      { id: 2 ** 53 - 1 },
      null,
      { output: { id: big } },
      0,
    ],
    ["match a double that they round to", { type: "json_fields" }, { id: 2 ** 53 }, null, { output: { id: big } }, 1],
    [
      "match it in any order",
      { type: "json_fields", unordered: ["id"] },
      { id: [5, 1e21] },
      null,
      { output: { id: [10n ** 21n, 5] } },
      1,
    ],
    ["match it as text", { type: "exact" }, 1e21, null, { output: 10n ** 21n }, 1],
    [
      "match it as an argument",
      { type: "tool_calls", order: "any" },
      [{ name: "find", arguments: { id: [2 ** 53] } }],
      null,
      { output: null, tool_calls: call(big) },
      1,
    ],
    [
      "are no other argument",
      { type: "tool_calls", order: "any" },
      [{ name: "find", arguments: { id: [5] } }],
      null,
      { output: null, tool_calls: call(big) },
      0,
    ],
    ["are integers", { type: "json_schema" }, null, { type: "integer", minimum: 5 }, { output: big }, 1],
    [
      "are bounded exactly",
      { type: "json_schema" },
      null,
      { type: "number", maximum: 2 ** 53 - 1 },
      { output: big },
      0,
    ],
    ["are multiples exactly", { type: "json_schema" }, null, { multipleOf: 2 }, { output: big }, 0],
    ...[big, big - 1n, 2 ** 53].flatMap((id): [string, Grader, Json, Json, Answer, number][] => {
      const [key, right] = [String(big), Number(id === big)];
      const output = { id };
      return [
        ["are a string's", { type: "json_fields" }, { id: key }, null, { output }, right],
        ["or not", { type: "json_fields" }, { id: [{ n: key }] }, null, { output: { id: [{ n: id }] } }, right],
        [
          "in any order",
          { type: "json_fields", unordered: ["id"] },
          { id: ["a", 5, key] },
          null,
          { output: { id: [5, id, "a"] } },
          right,
        ],
        ["in a set", { type: "set_f1" }, [key], null, { output: [id] }, right],
        [
          "as an argument",
          { type: "tool_calls", order: "any" },
          [{ name: "find", arguments: { id: [key, "none"] } }],
          null,
          { output: null, tool_calls: call(id) },
          right,
        ],
        ["whatever a schema bounds", { type: "exact" }, key, { maximum: 2 ** 63 }, { output: id }, right],
      ];
    }),
    ["are told apart", { type: "json_schema" }, null, { uniqueItems: true }, { output: [big, big - 1n] }, 1],
  ])("%s", (_what, grader, key, schema, answer, correctness) => {
    expect(grade(taskOf(grader, key, schema), answer).correctness).toBe(correctness);
  });
});
