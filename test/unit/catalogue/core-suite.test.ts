import { Validator } from "@cfworker/json-schema";
import { describe, expect, test } from "vitest";
import { core } from "../../../shared/suites/public/core/index.ts";
import type { SeedTask } from "../../../shared/suites/public/types.ts";
import { checkTask } from "../../../shared/grading/check.ts";
import { graderSchema } from "../../../shared/grading/schema.ts";
import { textOf } from "../../../shared/grading/text.ts";
import { PASS_THRESHOLD } from "../../../shared/templates/types.ts";
import type { Answer } from "../../../shared/grading/types.ts";
import { answerWith, expectedCallsOf, passes } from "./core-support.ts";

const DOMAINS = [
  "reasoning",
  "math",
  "coding",
  "data_extraction",
  "tool_use",
  "instruction_following",
  "planning",
  "retrieval",
  "safety",
  "robustness",
];
const KEYLESS = ["regex", "constraints", "json_schema"];
const cases = core.tasks.map((task) => [task.slug, task] as const);

/** The answer that gives the key itself; of a tool call's allowed values the first. */
function keyAnswer(task: SeedTask): Answer {
  const key = task.expected_output;
  if (task.grader.type === "normalized_text" && Array.isArray(key)) return { output: key[0] ?? null };
  if (task.grader.type !== "tool_calls") return { output: key };
  const tool_calls = expectedCallsOf(task).map(({ name, arguments: args }) => ({
    name,
    arguments: Object.fromEntries(Object.entries(args).map(([arg, [first = null]]) => [arg, first])),
  }));
  return { output: null, tool_calls };
}

describe("the suite", () => {
  test("has exactly four tasks of each domain", () => {
    expect(Object.groupBy(core.tasks, (task) => task.domain)).toEqual(
      Object.fromEntries(DOMAINS.map((domain) => [domain, expect.objectContaining({ length: 4 })])),
    );
  });

  test("uses every type of grader but the one that knows two answers alone, one of which always passes", () => {
    const types = graderSchema.options.map((option) => option.shape.type.value).filter((type) => type !== "refusal");
    expect(new Set(core.tasks.map((task) => task.grader.type))).toEqual(new Set(types));
  });

  test("has no two tasks with the same slug, title or prompt", () => {
    for (const field of ["slug", "title", "prompt"] as const) {
      expect(new Set(core.tasks.map((task) => task[field])).size).toBe(core.tasks.length);
    }
  });
});

describe.each(cases)("%s", (_slug, task) => {
  test("is a well-formed task within the service's limits", () => {
    expect(task.slug).toMatch(/^core-[a-z]+(-[a-z]+)+$/);
    expect(graderSchema.safeParse(task.grader).success).toBe(true);
    expect(checkTask({ ...task, output_schema: task.output_schema ?? null })).toEqual([]);
    expect(task.time_limit_ms).toBeGreaterThanOrEqual(1_000);
    expect(task.time_limit_ms).toBeLessThanOrEqual(120_000);
    expect(task.reference_latency_ms).toBeLessThan(task.time_limit_ms);
    expect(task.reference_cost_usd).toBeGreaterThanOrEqual(0.0004);
    expect(task.reference_cost_usd).toBeLessThanOrEqual(0.02);
    expect(task.output_schema !== undefined).toBe(task.output_format === "json");
    expect(task.tools !== undefined).toBe(task.output_format === "tool_calls");
  });

  test("names no host but reserved ones, and no mail address", () => {
    const text = JSON.stringify(task);
    expect(text).not.toMatch(/https?:|@[a-z]/i);
    expect(text).not.toMatch(/[a-z0-9]\.(?:com|org|net|io|dev)\b/i);
  });

  test("fails every answer of its traps", () => {
    expect(task.wrong_answers).not.toEqual([]);
    expect(task.wrong_answers.filter((wrong) => passes(task, answerWith(task, wrong)))).toEqual([]);
  });
});

describe.each(cases.filter(([, task]) => !KEYLESS.includes(task.grader.type)))("%s", (_slug, task) => {
  test("passes its own key and fails an empty answer", () => {
    expect(passes(task, keyAnswer(task))).toBe(true);
    expect(passes(task, { output: "" })).toBe(false);
  });

  test("does not give its key away in the title", () => {
    const values = [task.expected_output]
      .flat()
      .filter((value) => typeof value === "string" || typeof value === "number");
    for (const value of values) expect(task.title.toLowerCase()).not.toContain(String(value).toLowerCase());
  });
});

test.each(cases.filter(([, task]) => task.output_format === "json" && !KEYLESS.includes(task.grader.type)))(
  "%s: the key is valid against the output schema that the agent sees",
  (_slug, task) => {
    expect(new Validator(task.output_schema ?? false, "2020-12").validate(task.expected_output).valid).toBe(true);
  },
);

test.each(cases.filter(([, task]) => task.grader.type === "multiple_choice"))(
  "%s: the letters of the prompt stand for the choices in their order",
  (_slug, { prompt, grader }) => {
    const listed = [...prompt.matchAll(/^([A-E])\) (.+)$/gm)];
    expect(listed.map(([, letter]) => letter).join("")).toBe("ABCDE");
    expect(grader).toMatchObject({ choices: listed.map(([, , choice]) => choice) });
  },
);

test.each(cases.filter(([, task]) => task.grader.type === "exact" || task.grader.type === "numeric"))(
  "%s: what the agent is given does not contain the key",
  (_slug, { prompt, input = null, expected_output }) => {
    expect(prompt + JSON.stringify(input)).not.toContain(textOf(expected_output));
  },
);

test("an answer to any of them passes where one to an instance does", () => {
  expect(new Set(core.tasks.map(({ pass_threshold = 1 }) => pass_threshold))).toEqual(new Set([PASS_THRESHOLD]));
});
