import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Issue, checkTask } from "../../../shared/grading/check.ts";
import { type Grader, type Json, graderSchema } from "../../../shared/grading/schema.ts";
import { SAMPLES, anyJson, scoreOf } from "./support.ts";

const issuesOf = (grader: Grader, expected_output: Json, output_schema?: Json): Issue[] =>
  checkTask({ grader, expected_output, ...(output_schema !== undefined && { output_schema }) });

describe("the options of a grader", () => {
  test.each<Json>([
    { type: "exact" },
    { type: "numeric", tolerance: 0, relative: false },
    { type: "multiple_choice", choices: ["a", "b"] },
    { type: "regex", pattern: "x".repeat(1000) },
    { type: "set_f1", separator: ";" },
    { type: "json_fields", fields: { a: { tolerance: 1, optional: true } }, unordered: ["b"] },
    { type: "tool_calls", order: "any", allow_extra: true },
    { type: "constraints", rules: [{ kind: "bullets", n: 3 }, { kind: "json" }] },
  ])("%j is taken", (grader) => {
    expect(graderSchema.safeParse(grader).success).toBe(true);
  });

  test.each<Json>([
    { type: "guess" },
    {},
    { type: "exact", tolerance: 1 },
    { type: "numeric", tolerance: -1 },
    { type: "numeric", tolerance: "1" },
    { type: "numeric", choices: ["a"] },
    { type: "multiple_choice" },
    { type: "multiple_choice", choices: ["a"] },
    { type: "multiple_choice", choices: Array.from({ length: 27 }, (_, index) => `choice ${index}`) },
    { type: "regex" },
    { type: "regex", pattern: "" },
    { type: "regex", pattern: "x".repeat(1001) },
    { type: "set_f1", separator: "" },
    { type: "json_fields", fields: { a: { toleranc: 1 } } },
    { type: "tool_calls" },
    { type: "tool_calls", order: "loose" },
    { type: "constraints", rules: [] },
    { type: "constraints", rules: [{ kind: "min_words" }] },
    { type: "constraints", rules: [{ kind: "min_words", n: 1.5 }] },
    { type: "constraints", rules: [{ kind: "lowercase", n: 1 }] },
    { type: "constraints", rules: [{ kind: "include", words: [] }] },
    { type: "refusal", key: true },
  ])("%j is refused", (grader) => {
    expect(graderSchema.safeParse(grader).success).toBe(false);
  });
});

describe("a task that fits together", () => {
  test.each(SAMPLES.map((sample) => [sample.grader.type, sample] as const))(
    "%s has no issues",
    (_, { grader, key, schema }) => {
      expect(issuesOf(grader, key, schema)).toEqual([]);
    },
  );
});

describe("choices that are called by letters", () => {
  const grader = (...choices: string[]): Grader => ({ type: "multiple_choice", choices });

  test.each([
    grader("Option A", "Option B", "Neither"),
    grader("Answer: A", "The answer is B", "(c)"),
    grader("Option C", "Option D"),
    grader("The option to buy", "An answer", "A choice between B and C"),
    grader("Vitamin B", "B vitamin", "Plan A"),
  ])("%j are taken where each is its own letter, or no letter of the choices", (taken) => {
    expect(issuesOf(taken, taken.type === "multiple_choice" ? (taken.choices[0] ?? "") : "")).toEqual([]);
  });

  test("are told right from wrong by their texts, however these are written, if they are taken", () => {
    const lead = fc.constantFrom("", "Option ", "choice: ", "The answer is ", "an option ");
    const name = fc.constantFrom("A", "b", "(C)", "D.", "**A**", "Rome", "A. Rome", "the");
    const choices = fc.array(
      fc.tuple(lead, name).map((parts) => parts.join("")),
      { minLength: 2, maxLength: 4 },
    );
    const written = [
      (text: string) => text.toLowerCase(),
      (text: string) => text.toUpperCase(),
      (text: string) => `**${text}**`,
    ];
    fc.assert(
      fc.property(choices, fc.constantFrom(...written), (texts, write) => {
        fc.pre(issuesOf(grader(...texts), texts[0] ?? "").length === 0);
        for (const key of texts) {
          const scores = texts.map((text) => scoreOf(grader(...texts), key, write(text)));
          expect(scores).toEqual(texts.map((text) => (text === key ? 1 : 0)));
        }
      }),
    );
  });
});

describe("a task that does not fit together", () => {
  const choices = ["Rome", "Paris", "Bern"];
  const calls = { type: "tool_calls", order: "any" } as const;
  const misread: [string[], number[]][] = [
    [
      ["Option B", "Option A", "None of these"],
      [0, 1],
    ],
    [["Choice: (B)", "Rome"], [0]],
    [["Rome", "Paris", "an option b"], [2]],
    [["Rome", "The answer is A", "Paris"], [1]],
    [
      ["Rome", "Answer: C", "**A.**"],
      [1, 2],
    ],
    [["Rome", "C: Paris", "Paris"], [1]],
    [["Vitamin", "Rome", "B - Vitamin"], [2]],
  ];
  const words = (...list: string[]): Grader => ({ type: "constraints", rules: [{ kind: "include", words: list }] });

  test.each<[Grader, Json, string[]]>([
    [{ type: "exact" }, " ", ["/expected_output"]],
    [{ type: "exact" }, null, ["/expected_output"]],
    [{ type: "exact" }, ["a"], ["/expected_output"]],
    [{ type: "normalized_text" }, "...", ["/expected_output"]],
    [{ type: "normalized_text" }, 5, ["/expected_output"]],
    [{ type: "normalized_text" }, [], ["/expected_output"]],
    [{ type: "normalized_text" }, ["a", "?", 5], ["/expected_output/1", "/expected_output/2"]],
    [{ type: "numeric" }, "twelve", ["/expected_output"]],
    [{ type: "numeric" }, "2,5", ["/expected_output"]],
    [{ type: "numeric" }, "1e999", ["/expected_output"]],
    [{ type: "numeric" }, null, ["/expected_output"]],
    [{ type: "numeric" }, 1e-9, ["/expected_output"]],
    [{ type: "numeric", relative: true }, 5, ["/grader/relative"]],
    [{ type: "numeric", relative: true, tolerance: 0.1 }, 0, ["/grader/relative"]],
    [{ type: "multiple_choice", choices }, "B", ["/expected_output"]],
    [{ type: "multiple_choice", choices }, "paris", ["/expected_output"]],
    [{ type: "multiple_choice", choices }, 1, ["/expected_output"]],
    [{ type: "multiple_choice", choices: ["Rome", "rome!", "?"] }, "Rome", ["/grader/choices/1", "/grader/choices/2"]],
    [{ type: "multiple_choice", choices: ["B", "A"] }, "A", ["/grader/choices/0", "/grader/choices/1"]],
    ...misread.map(([texts, at]): [Grader, Json, string[]] => [
      { type: "multiple_choice", choices: texts },
      texts[0] ?? "",
      at.map((index) => `/grader/choices/${index}`),
    ]),
    [{ type: "regex", pattern: "(a)\\1" }, null, ["/grader/pattern"]],
    [{ type: "regex", pattern: "(?=a)" }, null, ["/grader/pattern"]],
    [{ type: "regex", pattern: "(?<!a)b" }, null, ["/grader/pattern"]],
    [{ type: "regex", pattern: "(a" }, null, ["/grader/pattern"]],
    [{ type: "regex", pattern: "((a{1,30}){1,30})b{900}" }, null, ["/grader/pattern"]],
    [{ type: "regex", pattern: "a" }, "a", ["/expected_output"]],
    [{ type: "set_f1" }, null, ["/expected_output"]],
    [{ type: "set_f1" }, { a: 1 }, ["/expected_output"]],
    [{ type: "set_f1" }, ["a", "..."], ["/expected_output/1"]],
    [{ type: "json_fields" }, {}, ["/expected_output"]],
    [{ type: "json_fields" }, [1], ["/expected_output"]],
    [{ type: "json_fields" }, "{}", ["/expected_output"]],
    [{ type: "json_fields", fields: { "b/c": {} } }, { a: 1 }, ["/grader/fields/b~1c"]],
    [{ type: "json_fields", fields: { toString: {} } }, { a: 1 }, ["/grader/fields/toString"]],
    [{ type: "json_fields", fields: { a: { optional: true } } }, { a: 1 }, ["/grader/fields"]],
    [
      { type: "json_fields", unordered: ["a", "b", "c"] },
      { a: [], b: {} },
      ["/grader/unordered/1", "/grader/unordered/2"],
    ],
    [calls, null, ["/expected_output"]],
    [calls, [{ name: "f" }], ["/expected_output/0/arguments"]],
    [calls, [{ name: "", arguments: {} }], ["/expected_output/0/name"]],
    [calls, [{ name: "f", arguments: { x: 1 } }], ["/expected_output/0/arguments/x"]],
    [calls, [{ name: "f", arguments: { x: [] } }], ["/expected_output/0/arguments/x"]],
    [calls, [{ name: "f", arguments: {}, id: 1 }], ["/expected_output/0"]],
    [{ type: "constraints", rules: [{ kind: "json" }] }, "x", ["/expected_output"]],
    [words("fine", "well-known", "two words"), null, []],
    [
      words("fine", " padded", "a,b", "?"),
      null,
      ["/grader/rules/0/words/1", "/grader/rules/0/words/2", "/grader/rules/0/words/3"],
    ],
    [{ type: "constraints", rules: [{ kind: "ends_with", text: "bye " }] }, null, ["/grader/rules/0/text"]],
    [{ type: "refusal" }, "true", ["/expected_output"]],
    [{ type: "refusal" }, null, ["/expected_output"]],
  ])("%j with key %j: issues at %j", (grader, key, pointers) => {
    const issues = issuesOf(grader, key);
    expect(issues.map(({ pointer }) => pointer)).toEqual(pointers);
    expect(issues.filter(({ message, code }) => message === "" || !code.startsWith("invalid_"))).toEqual([]);
  });

  test.each<[Grader, Json, string[]]>([
    [{ type: "exact" }, 2 ** 53, ["/expected_output"]],
    [{ type: "set_f1" }, ["a", 5, 1e21], ["/expected_output/2"]],
    [{ type: "json_fields" }, { a: 1, "b/c": [{ d: -(2 ** 53) }] }, ["/expected_output/b~1c/0/d"]],
    [{ type: "json_fields", fields: { a: { tolerance: 1 } } }, { a: 2 ** 53 }, ["/expected_output/a"]],
    [{ type: "json_fields", fields: { a: { tolerance: 1e6 } } }, { a: 2 ** 53 }, []],
    [calls, [{ name: "f", arguments: { id: [1, 2 ** 60] } }], ["/expected_output/0/arguments/id/1"]],
    [{ type: "exact" }, String(2 ** 53), []],
    [{ type: "exact" }, 2 ** 53 - 1, []],
  ])("a number whose digits JSON loses is asked for as a string: %j with key %j, at %j", (grader, key, pointers) => {
    const issues = issuesOf(grader, key);
    expect(issues.map(({ pointer }) => pointer)).toEqual(pointers);
    for (const { message, code } of issues)
      expect([message, code]).toEqual([expect.stringContaining("as a string"), "invalid_key"]);
  });

  test("any key may be checked, however odd or deep", () => {
    const deep: Json = JSON.parse("[".repeat(5000) + "]".repeat(5000));
    fc.assert(
      fc.property(fc.constantFrom(...SAMPLES), anyJson, ({ grader }, key) => {
        expect(Array.isArray(issuesOf(grader, key, key))).toBe(true);
        expect(issuesOf(grader, deep)).toHaveLength(1);
      }),
    );
  });
});

describe("an output schema to grade with", () => {
  const pointersOf = (schema: Json): string[] =>
    issuesOf({ type: "json_schema" }, null, schema).map(({ pointer }) => pointer);

  test("is needed by json_schema alone, which takes no key", () => {
    expect(issuesOf({ type: "json_schema" }, null)).toMatchObject([
      { pointer: "/output_schema", code: "invalid_schema" },
    ]);
    expect(issuesOf({ type: "json_schema" }, {}, {})).toMatchObject([
      { pointer: "/expected_output", code: "invalid_key" },
    ]);
    expect(issuesOf({ type: "json_fields" }, { a: 1 }, { type: "nonsense" })).toEqual([]);
  });

  test.each<[Json, string[]]>([
    [{ $schema: "https://json-schema.org/draft/2020-12/schema", $id: "https://example.test/a", title: "t" }, []],
    [{ type: "object", properties: { type: { format: "date", default: 1, examples: [] } } }, []],
    [{ properties: { kids: { items: { $ref: "#" } } } }, []],
    [{ $schema: "http://json-schema.org/draft-07/schema#" }, ["/$schema"]],
    ["object", [""]],
    [null, [""]],
    [{ type: "text" }, ["/type"]],
    [{ type: [] }, ["/type"]],
    [{ properties: { a: { type: "strin" } } }, ["/properties/a/type"]],
    [{ properties: { "a/b": 5 } }, ["/properties/a~1b"]],
    [{ properties: [] }, ["/properties"]],
    [{ requierd: ["a"] }, ["/requierd"]],
    [{ required: "a" }, ["/required"]],
    [{ required: [1] }, ["/required"]],
    [
      { minLength: -1, maxItems: 1.5, minimum: "1", multipleOf: 0 },
      ["/minLength", "/maxItems", "/minimum", "/multipleOf"],
    ],
    [
      { properties: { a: { const: 1e16 }, b: { enum: ["x", [2 ** 53]] }, c: { maximum: 2 ** 63, minimum: -1e20 } } },
      ["/properties/a/const", "/properties/b/enum", "/properties/c/maximum", "/properties/c/minimum"],
    ],
    [
      { exclusiveMinimum: 2 ** 53, exclusiveMaximum: 2 ** 54, multipleOf: 2 ** 55 },
      ["/exclusiveMinimum", "/exclusiveMaximum", "/multipleOf"],
    ],
    [{ default: 2 ** 53, examples: [2 ** 53], maximum: 2 ** 53 - 1, minimum: 0.5 }, []],
    [{ uniqueItems: 1, enum: "a", dependentRequired: { a: "b" } }, ["/uniqueItems", "/enum", "/dependentRequired"]],
    [{ allOf: [] }, ["/allOf"]],
    [{ anyOf: [true, 1] }, ["/anyOf/1"]],
    [{ items: [{}] }, ["/items"]],
    [{ pattern: "(?=a)" }, ["/pattern"]],
    [{ pattern: "(a)\\1" }, ["/pattern"]],
    [{ pattern: 1 }, ["/pattern"]],
    [{ patternProperties: { "(": {}, "^a": { type: "x" } } }, ["/patternProperties/(", "/patternProperties/^a/type"]],
    [{ $ref: "https://example.test/schema" }, ["/$ref"]],
    [{ $ref: "other.json" }, ["/$ref"]],
    [{ $ref: "#/properties/a", properties: { a: {} } }, ["/$ref"]],
    [{ $ref: "#/$defs/gone", $defs: {} }, ["/$ref"]],
    [{ $ref: "#/$defs/constructor", $defs: {} }, ["/$ref"]],
    [{ items: { $defs: {} } }, ["/items/$defs"]],
    [{ $dynamicRef: "#a", unevaluatedItems: false }, ["/$dynamicRef", "/unevaluatedItems"]],
    [{ $ref: "#" }, [""]],
    [{ allOf: [{ anyOf: [{ $ref: "#" }] }] }, [""]],
    [{ $defs: { a: { $ref: "#/$defs/b" }, b: { not: { $ref: "#/$defs/a" } } } }, ["/$defs/a"]],
    [{ $defs: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`d${index}`, {}])) }, ["/$defs"]],
  ])("%j: issues at %j", (schema, pointers) => {
    expect(pointersOf(schema)).toEqual(pointers.map((pointer) => `/output_schema${pointer}`));
  });

  test("nests at most 40 deep", () => {
    const nested = (depth: number): Json => (depth === 0 ? {} : { not: nested(depth - 1) });
    expect(pointersOf(nested(39))).toEqual([]);
    expect(pointersOf(nested(40))).toEqual(["/output_schema"]);
  });
});

describe("a pattern that stands for a million instructions", () => {
  const HUGE: [what: string, pattern: string][] = [
    ["many repetitions", ".{1000}".repeat(142)],
    ["a long group", `(?:${"a?".repeat(490)}){1000}`],
    ["repetitions of repetitions", `(?:(?:${"(?i)ab".repeat(80)}){1,30}){1,33}`],
    ["what is repeated no time", `(?:${"a{0}".repeat(245)}){1000}`],
    ["alternatives", `(?P<name>${"[^]a]c|\\pLd".repeat(75)}){900,1000}?`],
    ["quoted text", `(?:\\Q${"({1}".repeat(240)}\\E){1000}`],
  ];
  const pointer = "/grader/pattern";
  const message = "Make the counted repetitions smaller: the pattern is too large.";

  test.each(HUGE)("by %s is refused without being compiled", (_, pattern) => {
    const begun = performance.now();
    const found = Array.from({ length: 40 }, () => issuesOf({ type: "regex", pattern }, null));
    // To compile one takes up to three seconds.
    expect(performance.now() - begun).toBeLessThan(1000);
    expect(new Set(found.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify([{ pointer, code: "invalid_pattern", message }])]),
    );
  });

  test.each([
    "a{900}",
    "(?:a){900}",
    "(?:0|1|2|3|4|5|6|7|8|9){300}",
    "[{1000}]{3}\\{1000}",
    "\\Qa{1000}{1000}{1000}{1000}{1000}\\E",
    `^(?:${"[ab]".repeat(20)}){40}$`,
  ])("is not what %s is", (pattern) => {
    expect(issuesOf({ type: "regex", pattern }, null)).toEqual([]);
  });
});
