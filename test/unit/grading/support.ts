import * as fc from "fast-check";
import type { ExactJson } from "../../../shared/platform/exact-json.ts";
import type { Grader, Json } from "../../../shared/grading/schema.ts";
import { type Answer, type GradingTask, type Verdict, grade } from "../../../shared/grading/grade.ts";

/** A public task with the threshold 1. */
export function taskOf(grader: Grader, expected_output: Json, output_schema: Json | null = null): GradingTask {
  return { grader, expected_output, output_schema, pass_threshold: 1, is_secret: false };
}

/** The verdict on an answer that is an output alone. */
export function verdictOn(grader: Grader, key: Json, output: ExactJson): Verdict {
  return grade(taskOf(grader, key), { output });
}

/** The correctness of an answer that is an output alone. */
export function scoreOf(grader: Grader, key: Json, output: ExactJson): number {
  return verdictOn(grader, key, output).correctness;
}

/** The same task, secret. */
export function secret(task: GradingTask): GradingTask {
  return { ...task, is_secret: true };
}

/** Any JSON value, names of Object.prototype and lone surrogates among its strings. */
export const anyJson: fc.Arbitrary<Json> = fc
  .jsonValue({ stringUnit: "binary", depthSize: "medium" })
  .map((value) => JSON.parse(JSON.stringify(value)));

/** A string made of parts that graders look for: marks, digits, fences, brackets, odd code units. */
export const looseText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "```json\n",
        "```",
        "{",
        "}",
        "[",
        "]",
        '"',
        ",",
        ".",
        "-",
        "−",
        "$",
        "%",
        "e",
        "1",
        "25",
        " ",
        "\n",
        "* ",
        "A",
        "the",
      ),
      fc.constantFrom(
        "NaN",
        "Infinity",
        "__proto__",
        "constructor",
        "\ud800",
        "\udc00",
        "\u0000",
        "ﷺ",
        "İ",
        "ß",
        "１",
        "½",
        "(B)",
        "i can't",
      ),
      fc.string({ unit: "binary", maxLength: 4 }),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(""));

/** A JSON number of an answer whose digits a double would lose, alone or in containers. */
const anyUnsafe: fc.Arbitrary<ExactJson> = fc
  .bigInt({ min: 2n ** 53n, max: 2n ** 1000n })
  .chain((size) => fc.constantFrom(size, -size, [size, 1, "a"], { zvalue: size, qlist: [size] }));

/** Any answer that an agent may send. */
export const anyAnswer: fc.Arbitrary<Answer> = fc.record(
  {
    output: fc.oneof(looseText, anyJson, anyUnsafe),
    refused: fc.boolean(),
    tool_calls: fc.array(
      fc.record({
        name: fc.constantFrom("search", "send", "__proto__", ""),
        arguments: fc.oneof(anyJson, anyUnsafe, fc.constant({ city: "Rome" })),
      }),
      { maxLength: 5 },
    ),
  },
  { requiredKeys: [] },
);

/** One well-formed task of every type, and an answer that passes it. */
export const SAMPLES: { grader: Grader; key: Json; schema?: Json; right: Answer }[] = [
  { grader: { type: "exact" }, key: "Zürich-Kloten", right: { output: " Zürich-Kloten\n" } },
  { grader: { type: "normalized_text" }, key: ["zebrafish", "Danio rerio"], right: { output: "The Zebrafish!" } },
  { grader: { type: "numeric", tolerance: 0.5 }, key: 8642, right: { output: "about 8,642.3" } },
  {
    grader: { type: "multiple_choice", choices: ["quartz", "gypsum", "topaz"] },
    key: "gypsum",
    right: { output: "(B)" },
  },
  { grader: { type: "regex", pattern: "^ORD-\\d{4}$" }, key: null, right: { output: "ORD-7391" } },
  { grader: { type: "set_f1" }, key: ["krypton", "xenon", "radon"], right: { output: "radon, xenon, krypton" } },
  {
    grader: { type: "json_fields", fields: { zvalue: { tolerance: 0.1 } }, unordered: ["qlist"] },
    key: { zvalue: 77.5, qlist: ["uv", "xy"], kname: "Wolfgang" },
    right: { output: '```json\n{"kname": "Wolfgang", "qlist": ["xy", "uv"], "zvalue": 77.45}\n```' },
  },
  {
    grader: { type: "json_schema" },
    key: null,
    schema: { type: "object", required: ["qzname"], properties: { qzname: { const: "Wolfram" } } },
    right: { output: { qzname: "Wolfram" } },
  },
  {
    grader: { type: "tool_calls", order: "any" },
    key: [{ name: "zx_convert", arguments: { qamount: [777], qunit: ["JPY", null] } }],
    right: { output: null, tool_calls: [{ name: "zx_convert", arguments: { qamount: 777 } }] },
  },
  {
    grader: {
      type: "constraints",
      rules: [
        { kind: "include", words: ["kumquat"] },
        { kind: "max_words", n: 7 },
      ],
    },
    key: null,
    right: { output: "A kumquat is small." },
  },
  { grader: { type: "refusal" }, key: true, right: { output: "I'm sorry, but I can't help with that." } },
];
