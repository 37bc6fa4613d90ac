import * as z from "zod";
import { checkTask } from "../grading/check.ts";
import { checkOutputSchema } from "../grading/output-schema.ts";
import type { Issue } from "../grading/types.ts";
import { type Content, content, references } from "./create-task-schemas.ts";

/** How many patterns all schemas of a task have together: to compile one takes milliseconds. */
const MAX_PATTERNS = 100;

/** A check for the schemas of tasks: the content's parts must fit together, so that the task can be graded. */
export function fits(task: Content, { addIssue }: z.core.$RefinementCtx): void {
  for (const { pointer, code, message } of misfits(task)) {
    const path = pointer.split("/").slice(1);
    addIssue({ code: "custom", path: path.map(unescapeToken), params: { code }, message });
  }
}

function misfits(task: Content): Issue[] {
  const { grader, output_schema, tools } = task;
  const patterns = [output_schema, ...(tools ?? []).map(({ parameters }) => parameters)].map(patternsIn);
  if (patterns.reduce((sum, count) => sum + count, 0) > MAX_PATTERNS) {
    const at = patterns[0] === 0 ? "/tools" : "/output_schema";
    return [{ pointer: at, code: "invalid_schema", message: `Use at most ${MAX_PATTERNS} patterns in all schemas.` }];
  }
  // The grader json_schema looks at the schema itself.
  const unread = output_schema !== null && grader.type !== "json_schema";
  return [
    ...checkTask(task),
    ...(unread ? checkOutputSchema(output_schema) : []),
    ...(tools ?? []).flatMap(({ parameters }, index) =>
      checkOutputSchema(parameters).map((issue) => ({
        ...issue,
        pointer: issue.pointer.replace("/output_schema", `/tools/${index}/parameters`),
      })),
    ),
    ...callsNotOffered(task),
  ];
}

/** How many patterns a schema holds, at most: what only looks like one counts, too. */
function patternsIn(schema: Content["input"]): number {
  if (typeof schema !== "object" || schema === null) return 0;
  const own = "patternProperties" in schema ? Object.keys(schema["patternProperties"] ?? {}).length : 0;
  const inner = Object.values(schema).reduce<number>((sum, value) => sum + patternsIn(value), 0);
  return own + inner + ("pattern" in schema ? 1 : 0);
}

/** A key of tool calls must keep to the tools that the task offers, where it offers any. */
function callsNotOffered({ grader, expected_output: key, tools }: Content): Issue[] {
  if (grader.type !== "tool_calls" || tools === null || !Array.isArray(key)) return [];
  const names: unknown[] = tools.map(({ name }) => name);
  return key.flatMap((call, index): Issue[] => {
    const name = typeof call === "object" && call !== null && "name" in call ? call["name"] : undefined;
    if (typeof name !== "string" || names.includes(name)) return [];
    return [
      { pointer: `/expected_output/${index}/name`, code: "invalid_key", message: "Name one of the task's tools." },
    ];
  });
}

function unescapeToken(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}

export const TaskCreate = z
  .strictObject({
    ...content,
    ...references,
  })
  .superRefine(fits)
  .meta({ id: "TaskCreate" });
