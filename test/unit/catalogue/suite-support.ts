import { Validator } from "@cfworker/json-schema";
import { describe, expect, test } from "vitest";
import type { Json, SeedDomain, SeedSuite, SeedTask } from "../../../shared/suites/public/types.ts";
import { checkTask } from "../../../shared/grading/check.ts";
import { graderSchema } from "../../../shared/grading/schema.ts";
import type { Answer } from "../../../shared/grading/types.ts";
import { answerWith, callsOf, expectedCallsOf, passes } from "./core-support.ts";

/** Reads tasks of one suite by their slugs; every function throws where there is no such task. */
export function readerOf(suite: SeedSuite) {
  const task = (slug: string): SeedTask => {
    const found = suite.tasks.find((candidate) => candidate.slug === slug);
    if (found === undefined) throw new Error(`The suite ${suite.slug} has no task ${slug}.`);
    return found;
  };
  return {
    task,
    keyOf: (slug: string): Json => task(slug).expected_output,
    /** The input as the shape that the caller's test knows it to have; a wrong shape fails that test. */
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters, typescript/no-unsafe-type-assertion
    inputOf: <T>(slug: string): T => task(slug).input as T,
    /** The first allowed form of every call of a tool task's key. */
    callsOf: (slug: string) => keyCalls(task(slug)),
  };
}

/** Answers written by hand to tasks whose key is their rules, by slug. */
export type Samples = Record<string, Json>;

/** Tests that `suite` is sound: tasks of `domains` and no others, well-formed, each passed by its key (or sample) only. */
export function testSuite(suite: SeedSuite, domains: SeedDomain[], samples: Samples = {}): void {
  const cases = suite.tasks.map((task) => [task.slug, task] as const);

  describe(`the suite ${suite.slug}`, () => {
    test("covers exactly its domains", () => {
      expect(new Set(suite.tasks.map(({ domain }) => domain))).toEqual(new Set(domains));
    });

    test("has no two tasks with the same slug, title or prompt", () => {
      for (const field of ["slug", "title", "prompt"] as const) {
        expect(new Set(suite.tasks.map((task) => task[field])).size).toBe(suite.tasks.length);
      }
    });
  });

  describe.each(cases)("%s", (slug, task) => {
    test("is a well-formed task within the service's limits", () => {
      expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)+$/);
      expect(graderSchema.safeParse(task.grader).success).toBe(true);
      expect(checkTask(task)).toEqual([]);
      expect(task.time_limit_ms).toBeLessThanOrEqual(120_000);
      expect(task.reference_latency_ms).toBeLessThan(task.time_limit_ms);
      expect(task.reference_cost_usd).toBeGreaterThanOrEqual(0.0004);
      expect(task.reference_cost_usd).toBeLessThanOrEqual(0.02);
    });

    test("names no host but reserved ones", () => {
      expect(JSON.stringify(task)).not.toMatch(
        /https?:|\b[a-z0-9-]+\.(?:com|org|net|io|dev)\b|@(?![a-z0-9-]+\.(?:example|test)\b)[a-z]/i,
      );
    });

    test("is passed by its key, and by no empty answer", () => {
      expect(passes(task, keyAnswer(task, samples))).toBe(true);
      expect(passes(task, { output: "" })).toBe(false);
    });

    test("is not passed by what it asks, with its input or alone, once or twice", () => {
      const { prompt, input } = task;
      const whole = `${prompt}\n\n${typeof input === "string" ? input : JSON.stringify(input ?? "")}`;
      const echoes = [prompt, whole, `${prompt}\n${prompt}`, `${whole}\n${whole}`];
      expect(echoes.filter((output) => passes(task, { output }))).toEqual([]);
    });

    test("is passed by none of its traps", () => {
      expect(task.wrong_answers).not.toEqual([]);
      expect(task.wrong_answers.filter((wrong) => passes(task, answerWith(task, wrong)))).toEqual([]);
    });

    test("does not give its key away in the title", () => {
      const values = [task.expected_output]
        .flat()
        .filter((value) => typeof value === "string" || typeof value === "number");
      for (const value of values) expect(task.title.toLowerCase()).not.toContain(String(value).toLowerCase());
    });
  });

  const toolTasks = cases.filter(([, task]) => task.output_format === "tool_calls");
  if (toolTasks.length > 0) {
    test.each(toolTasks)("%s: every call of the key and of the traps fits the schema of a tool on offer", (_, task) => {
      const key = keyCalls(task);
      expect(task.expected_tool_calls).toBe(key.length);
      expect([key, ...task.wrong_answers.map(callsOf)].flat().filter((call) => !isOffered(task, call))).toEqual([]);
    });
  }

  const amounts = cases.filter(([, { expected_output: key }]) => typeof key === "string" && /^\d+\.\d\d$/.test(key));
  if (amounts.length > 0) {
    test.each(amounts)("%s: is passed by its amount as people write amounts", (_, task) => {
      const grouped = Number(task.expected_output).toLocaleString("en-US", { minimumFractionDigits: 2 });
      for (const output of [grouped, `$${grouped}`]) expect(passes(task, { output })).toBe(true);
    });
  }

  const choiceTasks = cases.filter(([, task]) => task.grader.type === "multiple_choice");
  if (choiceTasks.length > 0) {
    test.each(choiceTasks)("%s: the letters of the prompt stand for the choices in their order", (_, task) => {
      const listed = [...task.prompt.matchAll(/^([A-Z])\) (.+)$/gm)];
      expect(listed.map(([, letter]) => letter).join("")).toBe("ABCDEFGH".slice(0, listed.length));
      expect(task.grader).toMatchObject({ choices: listed.map(([, , choice]) => choice) });
    });
  }
}

function keyCalls(task: SeedTask) {
  return expectedCallsOf(task).map(({ name, arguments: args }) => ({
    name,
    arguments: Object.fromEntries(Object.entries(args).map(([arg, [first = null]]) => [arg, first])),
  }));
}

function isOffered(task: SeedTask, { name, arguments: args }: { name: string; arguments: Json }): boolean {
  const tool = task.tools?.find((offered) => offered.name === name);
  return tool !== undefined && new Validator(tool.parameters, "2020-12").validate(args).valid;
}

function keyAnswer(task: SeedTask, samples: Samples): Answer {
  const key = task.expected_output;
  if (task.grader.type === "tool_calls") return { output: null, tool_calls: keyCalls(task) };
  if (task.grader.type === "refusal") return { output: "", refused: key === true };
  if (key !== null) return { output: key };
  const sample = samples[task.slug];
  if (sample === undefined) throw new Error(`Give a sample answer to ${task.slug}.`);
  return { output: sample };
}
