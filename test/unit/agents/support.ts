import type { Answer, Json, Task } from "../../agents/protocol.ts";

/** A task as an agent is told it: text without input, unless said otherwise. */
export function taskOf(prompt: string, more: Partial<Omit<Task, "prompt">> = {}): Task {
  return { domain: "reasoning", prompt, output_format: "text", ...more };
}

/** The same with an input. */
export function taskWith(input: Json, prompt: string, more: Partial<Omit<Task, "prompt" | "input">> = {}): Task {
  return taskOf(prompt, { input, ...more });
}

/** The output of an answer where it is text, else nothing. */
export function textOf(answer: Answer | null): string {
  return typeof answer?.output === "string" ? answer.output : "";
}
