import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  GRADER_VERSION,
  MAX_EXPLANATION_LENGTH,
  type Answer,
  type GradingTask,
  grade,
} from "../../../shared/grading/grade.ts";
import { type Grader, graderSchema, type Json } from "../../../shared/grading/schema.ts";
import { SAMPLES, anyAnswer, looseText, secret, taskOf } from "./support.ts";

const TASKS = SAMPLES.map(({ grader, key, schema }) => taskOf(grader, key, schema ?? null));
const NAMED = SAMPLES.map((sample, index) => [sample.grader.type, TASKS[index] as GradingTask, sample.right] as const);

describe("every grader", () => {
  test("has a sample, and evidence names their version", () => {
    const types = graderSchema.options.map(({ shape }) => shape.type.value);
    expect(new Set(SAMPLES.map(({ grader }) => grader.type))).toEqual(new Set(types));
    expect(GRADER_VERSION).toBe("11");
  });

  test.each(NAMED)("%s passes a right answer, secret or not", (_, task, right) => {
    expect(grade(task, right)).toMatchObject({ correctness: 1, passed: true });
    expect(grade(secret(task), right)).toMatchObject({ correctness: 1, passed: true });
  });

  test.each(NAMED)("%s gives an empty or missing answer nothing, and says why", (_, task) => {
    for (const answer of [{}, { output: null }, { output: "" }, { output: " \n\t" }]) {
      const verdict = grade(task, answer);
      expect(verdict).toMatchObject({ correctness: 0, passed: false });
      expect(verdict.explanation).not.toBe("");
    }
  });

  test.each(NAMED)("%s answers every answer with a correctness in 0..1 and a bounded explanation", (_, task) => {
    fc.assert(
      fc.property(anyAnswer, fc.boolean(), (answer, is_secret) => {
        const { correctness, passed, explanation } = grade({ ...task, is_secret }, answer);
        expect(correctness).toBeGreaterThanOrEqual(0);
        expect(correctness).toBeLessThanOrEqual(1);
        expect(passed).toBe(correctness >= 1 - 1e-9);
        expect(explanation.length).toBeGreaterThan(0);
        expect(explanation.length).toBeLessThanOrEqual(MAX_EXPLANATION_LENGTH);
        expect(explanation.isWellFormed()).toBe(true);
        expect(explanation).not.toContain("\u0000");
      }),
    );
  });

  test.each(NAMED)("%s gives the same verdict on the same answer", (_, task) => {
    fc.assert(
      fc.property(anyAnswer, (answer) => {
        expect(grade(task, answer)).toEqual(grade(task, structuredClone(answer)));
      }),
    );
  });

  test("the key itself is a right answer", () => {
    const keyed = ["exact", "normalized_text", "numeric", "multiple_choice", "set_f1", "json_fields"];
    const key = fc
      .string({ unit: "binary", maxLength: 20 })
      .filter((text) => /[\p{L}\p{N}]/u.test(text.normalize("NFKC")));
    for (const { grader, key: sample } of SAMPLES.filter(({ grader: { type } }) => keyed.includes(type))) {
      const output = grader.type === "normalized_text" && Array.isArray(sample) ? (sample[0] ?? null) : sample;
      expect(grade(taskOf(grader, sample), { output }).correctness).toBe(1);
    }
    fc.assert(
      fc.property(key, fc.constantFrom("exact", "normalized_text", "set_f1"), (text, type) => {
        fc.pre(text.trim() !== "");
        expect(grade(taskOf({ type }, text), { output: text }).correctness).toBe(1);
      }),
    );
  });
});

describe("the threshold", () => {
  const rules = Array.from({ length: 10 }, (_, index) => ({ kind: "include" as const, words: [`w${index}`] }));
  const task = taskOf({ type: "constraints", rules }, null);

  test.each([
    [0.3, "w0 w1 w2", true],
    [0.1 + 0.2, "w0 w1 w2", true],
    [0.31, "w0 w1 w2", false],
    [0, "none", true],
    [1, "w0", false],
  ])("of %d on the answer %s: passed is %s", (pass_threshold, output, passed) => {
    expect(grade({ ...task, pass_threshold }, { output }).passed).toBe(passed);
  });
});

describe("the explanation of a secret task", () => {
  // Words that no fixed sentence of an explanation holds, as every leak would.
  const mark = fc.stringMatching(/^[qzjx]{3}[0-9]{4}$/u);
  const secretTask: fc.Arbitrary<GradingTask> = fc
    .tuple(mark, mark, mark, fc.integer({ min: 10_000, max: 99_999 }))
    .chain(([a, b, c, n]) =>
      fc.constantFrom<[Grader, Json, Json?][]>(
        [{ type: "exact" }, a],
        [{ type: "normalized_text" }, [a, b]],
        [{ type: "numeric", tolerance: n + 0.5 }, n],
        [{ type: "multiple_choice", choices: [a, b, c] }, b],
        [{ type: "regex", pattern: `${a}|${b}` }, null],
        [{ type: "set_f1" }, [a, b, c]],
        [
          { type: "json_fields", unordered: [b] },
          { [a]: n, [b]: [c] },
        ],
        [{ type: "json_schema" }, null, { required: [a], properties: { [a]: { enum: [b, n] } } }],
        [{ type: "tool_calls", order: "any" }, [{ name: a, arguments: { [b]: [c, n] } }]],
        [
          {
            type: "constraints",
            rules: [
              { kind: "include", words: [a] },
              { kind: "max_chars", n },
            ],
          },
          null,
        ],
        [{ type: "refusal" }, true],
      ),
    )
    .map(([grader, key, schema]) => secret(taskOf(grader, key, schema ?? null)));

  /** Every scalar and name in a task, of more than two characters. */
  function partsOf(value: unknown): string[] {
    if (typeof value !== "object" || value === null) return [String(value)].filter((part) => part.length > 2);
    return Object.entries(value).flatMap(([name, child]) => [
      ...(Array.isArray(value) ? [] : partsOf(name)),
      ...partsOf(child),
    ]);
  }

  test("holds no part of the key or of the grader's options", () => {
    const own = new Set([
      "type",
      "order",
      "any",
      "rules",
      "kind",
      "words",
      "name",
      "arguments",
      "required",
      "properties",
      "enum",
    ]);
    fc.assert(
      fc.property(secretTask, anyAnswer, (task, answer) => {
        const { grader, expected_output, output_schema } = task;
        const parts = partsOf([grader, expected_output, output_schema]).filter(
          (part) => /\d{4}/u.test(part) && !own.has(part),
        );
        const { explanation } = grade(task, answer);
        expect(parts.filter((part) => explanation.includes(part))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test("depends on the answer, the grader's type and the verdict alone", () => {
    fc.assert(
      fc.property(secretTask, secretTask, anyAnswer, (one, other, answer) => {
        fc.pre(one.grader.type === other.grader.type);
        const [first, second] = [grade(one, answer), grade(other, answer)];
        fc.pre(first.passed === second.passed);
        expect(first.explanation).toBe(second.explanation);
      }),
      { numRuns: 200 },
    );
  });

  test("still says what is wrong with the form of an answer", () => {
    const explain = (grader: Grader, key: Json, output: Json) =>
      grade(secret(taskOf(grader, key)), { output }).explanation;
    expect(explain({ type: "numeric" }, 25, "none")).toBe("No number was found in the answer.");
    expect(explain({ type: "json_fields" }, { a: 1 }, "{")).toBe("The answer is not JSON.");
    expect(explain({ type: "exact" }, "a", null)).toBe("The answer is empty.");
    expect(explain({ type: "numeric" }, 25, "24")).toContain("The task is secret");
  });
});

describe("hostile answers", () => {
  const SIZE = 1 << 20;
  const filled = (unit: string): string => unit.repeat(Math.ceil(SIZE / Buffer.byteLength(unit)));
  const texts = [
    "a",
    "1",
    "1,",
    "1,234",
    ".",
    "-",
    "−$",
    " ",
    "\n",
    "\n ",
    "a ",
    "A. ",
    "```\n",
    "[",
    '{"a":',
    "1e",
    "10^",
    "1 x 10",
    "ﷺ",
    "\u0301\u0316",
    "\uff9e\u0316",
    "\ud800",
    "(",
    "a-",
    "- ",
    "sorry, ",
  ]
    .map(filled)
    .concat([
      `answer${filled(" ")}b`,
      `the${filled(" ")}`,
      `[${"0,".repeat(SIZE / 2 - 1)}0]`,
      `{"qlist": [${"1,".repeat(SIZE / 4)}1]}`,
    ]);

  const rules: Grader = {
    type: "constraints",
    rules: [
      { kind: "max_words", n: 3 },
      { kind: "max_sentences", n: 3 },
      { kind: "exact_paragraphs", n: 1 },
      { kind: "bullets", n: 1 },
      { kind: "include", words: ["one", "two words"] },
      { kind: "max_chars", n: 9 },
      { kind: "lowercase" },
      { kind: "uppercase" },
      { kind: "json" },
    ],
  };
  const tasks = [
    ...TASKS,
    taskOf(rules, null),
    taskOf({ type: "regex", pattern: "(a+)+$|(a|a)*b|(1|,|[0-9])*x" }, null),
  ];

  test.each(tasks.map((task) => [task.grader.type, task] as const))(
    "%s takes 1 MiB of anything in time",
    { timeout: 120_000 },
    (_, task) => {
      for (const output of texts) {
        const before = performance.now();
        const { correctness } = grade(task, { output });
        expect(correctness).toBeLessThanOrEqual(1);
        expect(performance.now() - before, JSON.stringify(output.slice(0, 12))).toBeLessThan(10_000);
      }
    },
  );

  test("a pattern that is costly at every character is not searched in a text too long for it", () => {
    const task = taskOf({ type: "regex", pattern: "[ab][a-d]{900}[x-z]" }, null);
    const before = performance.now();
    expect(grade(task, { output: filled("abcd") })).toMatchObject({
      correctness: 0,
      explanation: expect.stringContaining("too long"),
    });
    expect(grade(task, { output: filled("abcd").slice(0, 50_000) }).correctness).toBe(0);
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  test.each(NAMED)("%s takes values nested too deep for recursion", (_, task) => {
    const deep = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
    const answers: Answer[] = [
      { output: deep },
      { output: { a: deep } },
      { output: "x", tool_calls: [{ name: "zx_convert", arguments: deep }] },
      { output: "[".repeat(SIZE) },
      { output: "x", tool_calls: Array.from({ length: 20_000 }, () => ({ name: "zx_convert", arguments: {} })) },
    ];
    for (const answer of answers) expect(grade(task, answer).passed).toBe(false);
  });

  test("names and values of Object.prototype are data like any other", () => {
    for (const output of ['{"__proto__": {"zvalue": 77.5}}', '{"constructor": 1}', "__proto__", "toString"]) {
      for (const task of TASKS) expect(grade(task, { output }).correctness).toBeLessThan(1);
    }
    expect({}).not.toHaveProperty("zvalue");
  });

  test("loose texts never pass a task whose key they do not hold", () => {
    const keyed = TASKS.filter(({ grader: { type } }) =>
      ["exact", "normalized_text", "numeric", "regex", "json_fields"].includes(type),
    );
    fc.assert(
      fc.property(looseText, (output) => {
        expect(keyed.filter((task) => grade(task, { output }).passed)).toEqual([]);
      }),
    );
  });
});
