import { describe, expect, test } from "vitest";
import type { MintedTask } from "../../../shared/suites/secret/types.ts";
import { grade } from "../../../shared/grading/grade.ts";
import type { Answer } from "../../../shared/grading/types.ts";
import { nearMisses, rightAnswers, trapAnswers } from "./template-checks/answers.ts";
import { drawMany, templates } from "./template-checks/draws.ts";

const DRAWS = 100;

function passes(task: MintedTask, answer: Answer): boolean {
  const { grader, expected_output, output_schema = null, pass_threshold = 1 } = task;
  return grade({ grader, expected_output, output_schema, pass_threshold, is_secret: true }, answer).passed;
}

describe.each(templates)("$id", { timeout: 30_000 }, ({ id, ...template }) => {
  const tasks = drawMany({ id, ...template }, DRAWS);

  test("passes a right answer in each usual form", () => {
    const graded = tasks.flatMap((task) => rightAnswers(id, task).map((answer) => ({ task, answer })));
    expect(graded.length).toBeGreaterThanOrEqual(DRAWS);
    expect(graded.filter(({ task, answer }) => !passes(task, answer))).toEqual([]);
  });

  test("passes neither a near miss nor an answer that a trap leads to", () => {
    const graded = tasks.flatMap((task) =>
      [...nearMisses(id, task), ...(trapAnswers[id]?.(task) ?? [])].map((answer) => ({ task, answer })),
    );
    expect(graded.length).toBeGreaterThanOrEqual(DRAWS);
    expect(graded.filter(({ task, answer }) => passes(task, answer))).toEqual([]);
  });
});
