import { readdirSync, readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { core } from "../../../shared/suites/public/core/index.ts";
import type { SeedTask } from "../../../shared/suites/public/types.ts";
import { grade } from "../../../shared/grading/grade.ts";
import type { Answer, Json, Task } from "../../agents/protocol.ts";
import { work } from "../../agents/sample.ts";
import { solve } from "../../agents/solve/index.ts";

const SOLVE = new URL("../../agents/solve/", import.meta.url);
const TELLING_WORDS = 7;

/** What the service sends of a task. */
function told({ domain, prompt, input, output_format, output_schema, tools }: SeedTask): Task {
  return {
    domain,
    prompt,
    output_format,
    ...(input === undefined ? {} : { input }),
    ...(output_schema === undefined ? {} : { output_schema }),
    ...(tools === undefined ? {} : { tools }),
  };
}

function passes(task: SeedTask, answer: Answer): boolean {
  const { grader, expected_output, output_schema = null, pass_threshold = 1 } = task;
  return grade({ grader, expected_output, output_schema, pass_threshold, is_secret: false }, answer).passed;
}

describe("the sample agent", () => {
  test("passes a fair share of the core suite, and not all of it", () => {
    const passed = core.tasks.filter((task) => passes(task, solve(told(task))));
    expect(passed.length / core.tasks.length).toBeGreaterThanOrEqual(0.4);
    expect(passed.length / core.tasks.length).toBeLessThanOrEqual(0.8);
  });

  test("knows no task: no source file imports the catalogue or quotes its texts", () => {
    const shingles = new Set(
      core.tasks.flatMap((task) => runsOfWords(JSON.stringify([task.prompt, task.input ?? "", task.expected_output]))),
    );
    for (const name of readdirSync(SOLVE)) {
      const source = readFileSync(new URL(name, SOLVE), "utf8");
      expect(source, name).not.toMatch(/catalogue/u);
      expect(
        runsOfWords(source).filter((run) => shingles.has(run)),
        name,
      ).toEqual([]);
    }
  });

  test("answers the same whatever the order in which the members of an object arrive", () => {
    for (const task of core.tasks) {
      const known = told(task);
      const { input = null } = known;
      const reordered: Task = { ...known, ...(known.input === undefined ? {} : { input: shortestFirst(input) }) };
      expect(solve(reordered), task.slug).toEqual(solve(known));
    }
  });

  test("answers every task in the form that is asked for", () => {
    for (const task of core.tasks) {
      const answer = solve(told(task));
      if (task.output_format === "tool_calls") expect(answer.tool_calls, task.slug).toBeInstanceOf(Array);
      else if (task.output_format === "json") expect(answer.output, task.slug).toBeTypeOf("object");
      else expect(answer.output, task.slug).toBeTypeOf("string");
    }
  });

  test("has an answer to anything, the same one each time", () => {
    const json = fc.jsonValue({ maxDepth: 3 }).map((value) => value as Json);
    const task: fc.Arbitrary<Task> = fc.record(
      {
        domain: fc.string(),
        prompt: fc.string(),
        output_format: fc.constantFrom("text", "json", "tool_calls"),
        input: json,
        output_schema: fc.dictionary(fc.string(), json),
        tools: fc.array(
          fc.record({ name: fc.string(), description: fc.string(), parameters: fc.dictionary(fc.string(), json) }),
        ),
      },
      { requiredKeys: ["domain", "prompt", "output_format"] },
    );
    fc.assert(
      fc.property(task, (any) => {
        expect(solve(any)).toEqual(solve(any));
      }),
    );
  });

  test("reports its own price for what it read and wrote", () => {
    const [task] = core.tasks;
    if (task === undefined) throw new Error("The core suite is empty.");
    const { usage, ...answer } = work(told(task));
    const [call, ...more] = usage.calls;
    expect(more).toEqual([]);
    expect(call).toMatchObject({ model: "rules-1", output_tokens: Math.ceil(JSON.stringify(answer).length / 4) });
    const tokens = (call?.input_tokens ?? 0) + (call?.output_tokens ?? 0);
    expect(call?.cost_usd).toBeCloseTo(tokens * 1e-7, 12);
  });
});

/** The same JSON with the members of each object in the order in which a PostgreSQL jsonb keeps them. */
function shortestFirst(value: Json): Json {
  if (Array.isArray(value)) return value.map(shortestFirst);
  if (typeof value !== "object" || value === null) return value;
  const names = Object.keys(value).toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1));
  return Object.fromEntries(names.map((name) => [name, shortestFirst(value[name] ?? null)]));
}

/** All runs of so many words in a row that they hardly occur by chance. */
function runsOfWords(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.slice(TELLING_WORDS - 1).map((_, at) => words.slice(at, at + TELLING_WORDS).join(" "));
}
