import * as z from "zod";
import { checkTask } from "../grading/check.ts";
import { checkOutputSchema } from "../grading/output-schema.ts";
import type { Issue } from "../grading/types.ts";
import { type Content, content, references } from "./create-task-schemas.ts";

/** A check for the schemas of tasks: the content's parts must fit together, so that the task can be graded. */
export function fits(task: Content, { addIssue }: z.core.$RefinementCtx): void {
  for (const { pointer, code, message } of misfits(task)) {
    const path = pointer.split("/").slice(1);
    addIssue({ code: "custom", path: path.map(unescapeToken), params: { code }, message });
  }
}

function misfits(task: Content): Issue[] {
  const { grader, output_schema, tools } = task;
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
