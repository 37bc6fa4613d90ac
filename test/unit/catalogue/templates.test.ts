import { isDeepStrictEqual } from "node:util";
import { Validator } from "@cfworker/json-schema";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../shared/suites/public/types.ts";
import { mintSuite, secretSuites } from "../../../shared/suites/secret/index.ts";
import type { MintedTask } from "../../../shared/suites/secret/types.ts";
import { checkTask } from "../../../shared/grading/check.ts";
import { graderSchema } from "../../../shared/grading/schema.ts";
import { randomFrom } from "../../../shared/templates/random.ts";
import { grade } from "../../../shared/grading/grade.ts";
import { leastTime } from "../../stack/least-time.ts";
import { rightAnswers } from "./template-checks/answers.ts";
import { drawMany, seedOf, templates } from "./template-checks/draws.ts";
import { checks } from "./template-checks/index.ts";

const DRAWS = 1000;
const MAX_MINT_MS = 5;
const MAX_LUCK = 0.05;
const ids = templates.map(({ id }) => id);
const key = Buffer.alloc(32, 7);

/** The key in a form in which two keys that the grader takes for the same are deeply equal. */
function comparable({ grader }: MintedTask, expected: Json): unknown {
  const sorted = (items: unknown) =>
    Array.isArray(items) ? items.map((item) => JSON.stringify(item)).toSorted() : items;
  if (grader.type === "set_f1" || (grader.type === "tool_calls" && grader.order === "any")) return sorted(expected);
  if (grader.type !== "json_fields" || typeof expected !== "object" || expected === null) return expected;
  return Object.fromEntries(
    Object.entries(expected).map(([field, value]) => [
      field,
      grader.unordered?.includes(field) ? sorted(value) : value,
    ]),
  );
}

describe("the secret suites", () => {
  test("hold at least fifteen templates each, with ids that are unique over both, and cover the ten domains", () => {
    for (const { templates: own } of secretSuites) expect(own.length).toBeGreaterThanOrEqual(15);
    expect(secretSuites.map(({ slug }) => slug)).toEqual(["sealed-reasoning", "sealed-work"]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(templates.map(({ domain }) => domain)).size).toBe(10);
  });

  test("have a second computation of the key for every template", () => {
    expect(Object.keys(checks).toSorted()).toEqual(ids.toSorted());
  });

  test.each(secretSuites)("$slug: the same key and version mint the same tasks, another one others", (suite) => {
    const minted = mintSuite(key, suite, 3);
    expect(mintSuite(key, suite, 3)).toEqual(minted);
    expect(new Set(minted.map(({ slug }) => slug)).size).toBe(suite.templates.length);
    const content = (tasks: MintedTask[]) => tasks.map(({ prompt, input }) => JSON.stringify([prompt, input]));
    for (const other of [mintSuite(key, suite, 4), mintSuite(Buffer.alloc(32, 8), suite, 3)]) {
      const texts = content(other);
      expect(content(minted).filter((text, i) => text === texts[i])).toEqual([]);
    }
  });
});

describe.each(templates)("$id", { timeout: 30_000 }, (template) => {
  const tasks = drawMany(template, DRAWS);

  test("gives the same task for the same seed and hardly ever the same one for another", () => {
    expect(drawMany(template, 5)).toEqual(tasks.slice(0, 5));
    const contents = new Set(tasks.map(({ prompt, input }) => JSON.stringify([prompt, input])));
    expect(contents.size).toBeGreaterThanOrEqual(0.99 * DRAWS);
  });

  test("gives well-formed tasks whose public fields do not depend on the draw", () => {
    const hidden = new Set(["prompt", "input", "grader", "expected_output"]);
    expect(new Set(tasks.map(({ grader }) => grader.type)).size).toBe(1);
    const publicFields = (task: MintedTask) =>
      JSON.stringify(Object.entries(task).filter(([name]) => !hidden.has(name)));
    expect(new Set(tasks.map(publicFields)).size).toBe(1);
    const malformed = tasks.filter(
      (task) =>
        !graderSchema.safeParse(task.grader).success ||
        checkTask(task).length > 0 ||
        /undefined|NaN|\[object|Infinity/.test(JSON.stringify(task)),
    );
    expect(malformed).toEqual([]);
  });

  test("gives runs the same as instances, at once", async () => {
    const spent: number[] = [];
    const differing: unknown[] = [];
    for (const [number, { prompt, input = null, grader, expected_output }] of tasks.entries()) {
      let instance: ReturnType<typeof template.mint> | undefined;
      spent.push(await leastTime(MAX_MINT_MS, () => (instance = template.mint(randomFrom(seedOf(template, number))))));
      const { id, version } = template;
      const expected = { template: { id, version }, prompt, input, grader, expected_output, world: null };
      if (!isDeepStrictEqual({ ...instance, ...expected }, instance)) differing.push({ instance, expected });
    }
    expect(differing).toEqual([]);
    expect(spent.toSorted((a, b) => a - b)[0.99 * DRAWS]).toBeLessThanOrEqual(MAX_MINT_MS);
  });

  test("makes an answer that leaked worth nothing for another run", () => {
    const lucky = tasks.filter((task, number) => {
      const [answer] = rightAnswers(template.id, tasks[(number + 1) % DRAWS] ?? task);
      const { grader, expected_output, output_schema = null, pass_threshold = 1 } = task;
      const marked = { grader, expected_output, output_schema, pass_threshold, is_secret: true };
      return answer !== undefined && grade(marked, answer).passed;
    });
    expect(lucky.length / DRAWS).toBeLessThanOrEqual(MAX_LUCK);
  });

  test("gives tasks whose key a second computation confirms", () => {
    const check = checks[template.id];
    const recompute = (task: MintedTask) => check?.(task) ?? null;
    const disputed = tasks
      .map((task) => ({ task, key: comparable(task, task.expected_output), found: comparable(task, recompute(task)) }))
      .filter(({ key: expected, found }) => !isDeepStrictEqual(found, expected));
    expect(disputed).toEqual([]);
  });
});

interface Call {
  name: string;
  arguments: Record<string, Json[]>;
}

test.each(templates.filter(({ domain }) => domain === "tool_use" || domain === "robustness"))(
  "$id: every allowed value of every call of a key is valid against the parameters of its tool",
  (template) => {
    for (const { grader, tools = [], expected_output, expected_tool_calls } of drawMany(template, 100)) {
      if (grader.type !== "tool_calls") continue;
      const calls: Call[] = JSON.parse(JSON.stringify(expected_output));
      expect(expected_tool_calls).toBe(calls.length);
      for (const call of calls) {
        const schema = tools.find(({ name }) => name === call.name)?.parameters;
        expect(schema).toBeDefined();
        const args = Object.fromEntries(Object.entries(call.arguments).map(([name, [value]]) => [name, value]));
        expect(new Validator(schema ?? {}, "2020-12").validate(args).errors).toEqual([]);
      }
    }
  },
);
