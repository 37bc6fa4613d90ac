import type { Job } from "../job.ts";

/** A task's input as a model reads it in a text; nothing where the task has none. */
export function inputInWords({ input }: Pick<Job["task"], "input">): string[] {
  return input === null ? [] : [`input:\n${JSON.stringify(input)}`];
}

/** What kind of answer is wanted, where the prompt need not say it: JSON, and the schema that it has to fit. */
export function formatInWords({ output_format, output_schema }: Job["task"]): string[] {
  if (output_format !== "json") return [];
  if (output_schema === null) return ["Answer in JSON alone."];
  return [`Answer in JSON that is valid against this JSON Schema:\n${JSON.stringify(output_schema)}`];
}

/** The tools of a task, for a model that can call none: it writes down what it would call. */
export function toolsInWords({ tools }: Pick<Job["task"], "tools">): string[] {
  if (tools === null) return [];
  return [
    `You have these tools, but can't call them: write down all calls that are needed, in the order in which they are to happen. ` +
      `No result comes back. Answer in JSON alone: {"tool_calls": [{"name": "…", "arguments": {…}}]}\n${JSON.stringify(tools)}`,
  ];
}
