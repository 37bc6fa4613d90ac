/* oxlint-disable unicorn/no-thenable -- "then" is a keyword of JSON Schema */
import { Validator } from "@cfworker/json-schema";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EvaluationBudgetError, evaluateSchema } from "../../../shared/grading/evaluate-schema.ts";
import { holdsRounded } from "../../../shared/grading/json.ts";
import { type OutputSchema, checkOutputSchema } from "../../../shared/grading/output-schema.ts";
import type { Json } from "../../../shared/grading/schema.ts";
import { grade } from "../../../shared/grading/grade.ts";
import { anyJson, taskOf } from "./support.ts";

const isValid = (schema: Json, value: Json): boolean => evaluateSchema(schema as OutputSchema, value) === null;

describe("evaluation by JSON Schema 2020-12", () => {
  test.each<[schema: Json, valid: Json[], invalid: Json[]]>([
    [true, [1, null, {}], []],
    [false, [], [1, null]],
    [{}, [1, null, {}], []],
    [{ type: "integer" }, [1, 1.0, -3], [1.5, "1", null]],
    [{ type: "number" }, [1, 1.5], ["1"]],
    [{ type: ["string", "null"] }, ["a", null], [1, []]],
    [{ type: "object" }, [{}], [[], null]],
    [{ type: "array" }, [[]], [{}]],
    [{ enum: [1, { a: [1, 2], b: 0 }] }, [1, { b: 0, a: [1, 2] }], [{ a: [2, 1], b: 0 }, "1"]],
    [{ const: null }, [null], [0, ""]],
    [{ minimum: 1, exclusiveMaximum: 3 }, [1, 2.9, "x"], [0.9, 3]],
    [{ exclusiveMinimum: 1, maximum: 3 }, [1.1, 3], [1, 3.1]],
    [{ multipleOf: 0.1 }, [0.3, 1, -0.7, 1e300], [0.35]],
    [{ multipleOf: 2 }, [0, 4], [3]],
    [{ minLength: 2, maxLength: 3 }, ["ab", "𝒳𝒴𝒵", 1], ["a", "abcd", "𝒳"]],
    [{ pattern: "^[a-c]+$" }, ["abc", 1], ["abd"]],
    [{ pattern: "b" }, ["abc"], ["ac"]],
    [{ prefixItems: [{ type: "string" }], items: { type: "number" } }, [["a", 1, 2], []], [[1], ["a", "b"]]],
    [{ items: false }, [[]], [[1]]],
    [{ minItems: 1, maxItems: 2 }, [[1], [1, 2]], [[], [1, 2, 3]]],
    [
      { uniqueItems: true },
      [[1, "1", { a: 1 }, { a: 2 }]],
      [
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      ],
    ],
    [{ contains: { type: "string" } }, [[1, "a"]], [[1], []]],
    [{ contains: { type: "string" }, minContains: 2, maxContains: 3 }, [["a", "b", 1]], [["a"], ["a", "b", "c", "d"]]],
    [{ contains: { type: "string" }, minContains: 0 }, [[1], []], []],
    [{ required: ["a"], properties: { a: { type: "string" } } }, [{ a: "x" }], [{}, { a: 1 }]],
    [{ required: ["toString"] }, [{ toString: 1 }], [{}]],
    [{ properties: { constructor: { type: "string" } } }, [{}], [{ constructor: 1 }]],
    [{ properties: { a: true }, additionalProperties: false }, [{ a: 1 }, {}], [{ b: 1 }]],
    [{ properties: { a: true }, additionalProperties: { type: "null" } }, [{ a: 1, b: null }], [{ b: 1 }]],
    [
      { patternProperties: { "^x": { type: "number" } }, additionalProperties: false },
      [{ x1: 1 }],
      [{ x1: "a" }, { y: 1 }],
    ],
    [{ propertyNames: { maxLength: 2 } }, [{ ab: 1 }], [{ abc: 1 }]],
    [{ minProperties: 1, maxProperties: 2 }, [{ a: 1 }], [{}, { a: 1, b: 2, c: 3 }]],
    [{ dependentRequired: { a: ["b"] } }, [{ a: 1, b: 2 }, { b: 1 }], [{ a: 1 }]],
    [{ dependentSchemas: { a: { required: ["b"] } } }, [{ a: 1, b: 2 }, {}], [{ a: 1 }]],
    [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
    [{ anyOf: [{ type: "string" }, { minimum: 5 }] }, ["a", 5], [4]],
    [{ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, [2, 3], [6, 5]],
    [{ not: { type: "string" } }, [1], ["a"]],
    [{ if: { type: "string" }, then: { minLength: 2 }, else: { minimum: 0 } }, ["ab", 0], ["a", -1]],
    [{ $ref: "#/$defs/name", $defs: { name: { type: "string" } } }, ["a"], [1]],
    [
      { type: "object", properties: { next: { $ref: "#" } }, required: ["v"] },
      [{ v: 1, next: { v: 2 } }],
      [{ v: 1, next: {} }],
    ],
    [{ format: "email" }, ["not an address"], []],
  ])("%j", (schema, valid, invalid) => {
    expect(checkOutputSchema(schema)).toEqual([]);
    expect(valid.filter((value) => !isValid(schema, value))).toEqual([]);
    expect(invalid.filter((value) => isValid(schema, value))).toEqual([]);
  });

  test("names the keyword and the place of the first failure", () => {
    const schema: OutputSchema = { properties: { "a/b": { items: { type: "string" } } } };
    expect(evaluateSchema(schema, { "a/b": ["x", 1] })).toEqual({ at: "/a~1b/1", keyword: "type" });
  });

  const scalar = fc.oneof(
    fc.record({ type: fc.constantFrom("null", "boolean", "object", "array", "number", "string", "integer") }),
    fc.record({
      enum: fc.array(
        anyJson.filter((value) => !holdsRounded(value)),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    fc.record({ const: fc.constantFrom(0, 1, "a", null, [], {}) }),
    fc.record({ minimum: fc.integer({ min: -2, max: 2 }), exclusiveMaximum: fc.integer({ min: 0, max: 3 }) }),
    fc.record({ minLength: fc.nat(2), maxLength: fc.nat(4) }),
    fc.record({ pattern: fc.constantFrom("^a", "b$", "[0-9]", ".") }),
    fc.record({ minItems: fc.nat(2), uniqueItems: fc.boolean() }),
    fc.record({ maxProperties: fc.nat(3), required: fc.subarray(["a", "b"]) }),
    fc.record({ dependentRequired: fc.constant({ a: ["b"] }) }),
  );
  const { schema: anySchema } = fc.letrec<{ schema: Json }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 2, depthSize: "small" },
      fc.oneof(fc.boolean(), scalar),
      fc.record(
        {
          items: tie("schema"),
          prefixItems: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
          contains: tie("schema"),
          minContains: fc.nat(2),
        },
        { requiredKeys: [] },
      ),
      fc.record(
        {
          properties: fc.dictionary(fc.constantFrom("a", "b"), tie("schema")),
          patternProperties: fc.dictionary(fc.constantFrom("^a", "b"), tie("schema")),
          additionalProperties: tie("schema"),
          propertyNames: tie("schema"),
          dependentSchemas: fc.dictionary(fc.constantFrom("a", "b"), tie("schema")),
        },
        { requiredKeys: [] },
      ),
      fc.record(
        {
          allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
          anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
          oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }),
          not: tie("schema"),
          if: tie("schema"),
          then: tie("schema"),
          else: tie("schema"),
        },
        { requiredKeys: [] },
      ),
    ) as fc.Arbitrary<Json>,
  }));
  const { value: anyValue } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Json[]>(null, true, 0, 1, 2, 1.5, -1, "", "a", "ab", "b1", "𝒳"),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom("a", "b", "ab", "c"), tie("value"), { noNullPrototype: true }),
    ),
  }));

  test("agrees with an independent validator on any schema of the dialect and any value", () => {
    fc.assert(
      fc.property(anySchema, anyValue, (schema, value) => {
        expect(checkOutputSchema(schema)).toEqual([]);
        const oracle = new Validator(structuredClone(schema) as object, "2020-12").validate(value);
        expect(isValid(schema, value)).toBe(oracle.valid);
      }),
      { numRuns: 500 },
    );
  });
});

describe("hostile answers and schemas", () => {
  const nested = (depth: number): Json => (depth === 0 ? {} : { a: nested(depth - 1) });

  test("a schema that doubles the work at every level ends within its budget", () => {
    const branch = { properties: { a: { $ref: "#" } } };
    const schema = { minProperties: 1, anyOf: [branch, branch] };
    expect(checkOutputSchema(schema)).toEqual([]);
    expect(() => evaluateSchema(schema, nested(60))).toThrow(EvaluationBudgetError);
    const verdict = grade(taskOf({ type: "json_schema" }, null, schema), { output: nested(60) });
    expect(verdict).toMatchObject({ correctness: 0, explanation: expect.stringContaining("too large or too deep") });
  });

  test("a long chain of references ends before the stack does", () => {
    const chain = Object.fromEntries(
      Array.from({ length: 99 }, (_, index) => [
        `d${index}`,
        { allOf: [{ allOf: [{ $ref: `#/$defs/d${index + 1}` }] }] },
      ]),
    );
    const schema = { $ref: "#/$defs/d0", $defs: { ...chain, d99: { properties: { a: { $ref: "#" } } } } };
    expect(checkOutputSchema(schema)).toEqual([]);
    expect(() => evaluateSchema(schema, nested(60))).toThrow(EvaluationBudgetError);
  });

  test("unique items, enumerations and patterns of large answers take linear time", () => {
    const many = Array.from({ length: 150_000 }, (_, index) => index);
    expect(isValid({ uniqueItems: true }, many)).toBe(true);
    expect(
      isValid({ anyOf: Array.from({ length: 500 }, (_, index) => ({ enum: [index] })) }, "x".repeat(100_000)),
    ).toBe(false);
    expect(isValid({ pattern: "^(a+)+$" }, `${"a".repeat(1 << 20)}!`)).toBe(false);
  }, 20_000);
});

describe("json_schema", () => {
  const schema = { type: "object", required: ["a"], properties: { a: { type: "integer" } } };
  const gradeOutput = (output: Json) => grade(taskOf({ type: "json_schema" }, null, schema), { output });

  test.each<[Json, number]>([
    [{ a: 1 }, 1],
    ['{"a": 1}', 1],
    ['```json\n{"a": 1}\n```', 1],
    [{ a: "1" }, 0],
    ["not JSON", 0],
    ["", 0],
    [null, 0],
  ])("output %j: %d", (output, correctness) => {
    expect(gradeOutput(output).correctness).toBe(correctness);
  });

  test("says where the answer breaks the schema", () => {
    expect(gradeOutput({ a: "1" }).explanation).toBe('The answer breaks the output schema at "/a": type.');
    expect(gradeOutput([]).explanation).toBe("The answer breaks the output schema at its root: type.");
  });
});
