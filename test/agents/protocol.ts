import * as z from "zod";

const json = z.json();

/** Any JSON value. */
export type Json = z.output<typeof json>;

const Tool = z.object({
  name: z.string(),
  description: z.string().default(""),
  parameters: z.record(z.string(), json),
});

/** What an agent is told of a task: neither its id nor its suite, so there is nothing to look an answer up by. */
const TaskSchema = z.object({
  domain: z.string(),
  prompt: z.string(),
  input: json.exactOptional(),
  output_format: z.enum(["text", "json", "tool_calls"]),
  output_schema: z.record(z.string(), json).exactOptional(),
  tools: z.array(Tool).exactOptional(),
});

/** A request of the native protocol, version 2026-11, as far as an agent needs it. */
export const AgentRequest = z.object({
  protocol: z.literal("2026-11"),
  run_id: z.string().min(1),
  task: TaskSchema,
  deadline: z.iso.datetime(),
  callback: z.object({ method: z.literal("PATCH"), url: z.url(), token: z.string().min(1) }),
});

export type Tool = z.output<typeof Tool>;
export type Task = z.output<typeof TaskSchema>;
export type AgentRequest = z.output<typeof AgentRequest>;

/** One call of a tool that the task offers. */
export interface ToolCall {
  name: string;
  arguments: Record<string, Json>;
}

/** What solving a task comes to. */
export interface Answer {
  output: Json;
  refused?: boolean;
  tool_calls?: ToolCall[];
}

/** What an answer used. Money is in US dollars. */
export interface Usage {
  calls: { model: string; input_tokens: number; output_tokens: number; cost_usd: number }[];
}

/** The body of a 200: the answer and what it used. */
export type AnswerBody = Answer & { usage: Usage };
