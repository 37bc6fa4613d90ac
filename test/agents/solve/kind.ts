import type { Answer, Task, ToolCall } from "../protocol.ts";

/** A rule for one kind of work: null where the task is of another kind, or where it holds something not understood. */
export type Solver = (task: Task) => Answer | null;

/** An answer of tool calls alone. */
export function callTools(calls: ToolCall[]): Answer {
  return { output: null, tool_calls: calls };
}
