import * as z from "zod";
import { readJson } from "../../grading/json.ts";
import { inPlainWriting } from "../../grading/plain.ts";
import { type GraderVersion, isSince } from "../../grading/types.ts";
import type { ExactJson } from "../../platform/exact-json.ts";
import { AnswerJson } from "../answer.ts";
import type { Job } from "../job.ts";
import { formatInWords, inputInWords, toolsInWords } from "./in-words.ts";
import type { Asked, Reading } from "./protocol.ts";
import { answered, invalid, isRecord, List, misfit, reportedFailure, ToolCalls } from "./reading.ts";

/** The most parts of a message, and of all artifacts of a task together. */
export const MAX_PARTS = 10_000;
/** The most artifacts of a task. */
export const MAX_ARTIFACTS = 1000;
/** How much of a task's history is asked for: some servers give none of it to who names no number, be an answer in it. */
const HISTORY_LENGTH = 10;
/** The longest id of a task, in characters; it is sent back. */
export const MAX_ID_LENGTH = 1024;

/** What agents tell beside the parts of a message or a task. */
export const Metadata = z
  .object({ usage: AnswerJson.optional(), refused: z.boolean().nullish(), tool_calls: ToolCalls.nullish() })
  .nullish();

/** A part of a message or an artifact, however the version of the protocol writes it. */
export type Part =
  | { kind: "text"; text: string; metadata?: unknown }
  | { kind: "data"; data: ExactJson; metadata?: unknown }
  | { kind: "file" };

/**
 * How agents built with Google's ADK, and kagent's, mark in the metadata of a part that it is none of the answer, with which it
 * shares an artifact: what their model thought, the calls of their own tools and the results of these, and replaced drafts.
 */
const ASIDE = /^(?:adk|kagent)_(?:thought|type|partial)$/;

/** A message, as far as it is read. */
export interface Message {
  parts: Part[];
  metadata?: z.output<typeof Metadata>;
}

/** Where a task stands, in the words of A2A 0.3. */
export const STATES = [
  "submitted",
  "working",
  "input-required",
  "auth-required",
  "completed",
  "canceled",
  "failed",
  "rejected",
  "unknown",
] as const;

/** A task, as far as it is read; its artifacts are one list of parts. */
export interface Task {
  id: string;
  status: { state: (typeof STATES)[number]; message?: Message | null | undefined };
  artifacts?: Part[] | null | undefined;
  /** What was said while it was under way, in order. Looked at only where nothing else holds an answer. */
  history?: unknown;
  metadata?: z.output<typeof Metadata>;
}

/** How a version of the protocol asks for a task, and writes it and its messages. */
export interface Polling {
  method: string;
  task: z.ZodType<Task>;
  message: z.ZodType<Message>;
}

/** The agent's role in a message, as 0.3 and 1.0 write it. */
const AGENT_ROLES: ReadonlySet<unknown> = new Set(["agent", "ROLE_AGENT"]);

const RpcResponse = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number(), z.null()]),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).nullish(),
});

/** What holds tool calls and nothing else: a data part, or the text that stands in for one. */
const CallsData = z.strictObject({ tool_calls: List });

/** What the data parts of a request hold: the input, if there is one, as an object, then what kind of answer is wanted. */
export function dataOf(task: Job["task"]): Record<string, unknown>[] {
  const wanted = {
    output_format: task.output_format,
    ...(task.output_schema === null ? {} : { output_schema: task.output_schema }),
    ...(task.tools === null ? {} : { tools: task.tools }),
  };
  if (task.input === null) return [wanted];
  return [isRecord(task.input) ? task.input : { input: task.input }, wanted];
}

/**
 * What the data parts say, in a text that follows them: many servers hand the text of a message to their agent and nothing
 * else, such as all that ask the Python SDK for `get_user_input()`, and the executors of LangGraph and of Microsoft's Agent
 * Framework. Their agents would be asked about an input, and by tools, that they never see.
 */
export function textAfter(task: Job["task"]): string[] {
  const tools = task.output_format === "tool_calls" ? toolsInWords(task) : [];
  const words = [...inputInWords(task), ...formatInWords(task), ...tools];
  return words.length === 0 ? [] : [words.join("\n\n")];
}

/** What A2A has for content of a kind that an agent does not take, and JSON-RPC for parameters that a method does not. */
const REFUSALS: ReadonlySet<number> = new Set([-32005, -32602]);

/**
 * Whether an answer is an error that may be due to the data parts of a request: servers that take texts alone, such as
 * Mastra's, say so by one of two codes, or in words with any code.
 */
export function refusesData(body: unknown): boolean {
  const error = RpcResponse.safeParse(body).data?.error;
  return error != null && (REFUSALS.has(error.code) || /\bdata[ -]?parts?\b/i.test(error.message));
}

/** A JSON-RPC 2.0 request. */
export function call(id: string, method: string, params: Record<string, unknown>): Record<string, unknown> {
  return { jsonrpc: "2.0", id, method, params };
}

/** Reads a JSON-RPC 2.0 response: an error is the agent's own failure, a result is passed to `read`. */
export function readResult<T>(
  body: unknown,
  { run }: Asked,
  schema: z.ZodType<T>,
  read: (result: T) => Reading,
): Reading {
  const response = RpcResponse.safeParse(body);
  if (!response.success) return misfit(response.error);
  const { id, result, error } = response.data;
  // A server that could not read a request does not know its id.
  if (id !== run.id && !(error && id === null)) return invalid("The answer is to another request: its id differs.");
  if (error) return reportedFailure(`The agent answered with the JSON-RPC error ${error.code}`, error.message);
  const parsed = schema.safeParse(result);
  return parsed.success ? read(parsed.data) : misfit(parsed.error, "result");
}

/** Reads a task: its answer where it has ended, else what asks for it again. */
export function readTask(task: Task, asked: Asked, polling: Polling): Reading {
  const { state, message } = task.status;
  const words = () => textOf((message ?? lastSaid(task, polling))?.parts);
  switch (state) {
    case "submitted":
    case "working":
    case "unknown":
      return {
        kind: "pending",
        request: call(asked.run.id, polling.method, { id: task.id, historyLength: HISTORY_LENGTH }),
        read: (body) =>
          readResult(body, asked, polling.task, (later) =>
            later.id === task.id ? readTask(later, asked, polling) : invalid("The answer is about another task."),
          ),
      };
    case "completed": {
      const parts = task.artifacts?.length ? task.artifacts : (message?.parts ?? []);
      const reading = readAnswer(parts, { ...message?.metadata, ...task.metadata }, asked);
      const said = parts.length === 0 && reading.kind === "failure" ? lastSaid(task, polling) : undefined;
      return said === undefined ? reading : readAnswer(said.parts, { ...said.metadata, ...task.metadata }, asked);
    }
    case "input-required":
      return reportedFailure("The agent wants more input, and a run has none to give", words());
    case "auth-required":
      return reportedFailure("The agent wants credentials, and a run has none to give", words());
    case "canceled":
    case "failed":
    case "rejected":
      return reportedFailure(`The agent ended its task as ${state}`, words());
  }
}

/**
 * The last message of the agent in a task's history. Servers put it there when a task goes on without another one: an agent
 * that says its answer while it works, and then ends its task without a word, leaves it nowhere else.
 */
function lastSaid({ history }: Task, { message }: Polling): Message | undefined {
  const messages: unknown[] = Array.isArray(history) ? history : [];
  return message.safeParse(messages.findLast((one) => isRecord(one) && AGENT_ROLES.has(one["role"]))).data;
}

/** The text is the output, or the data if JSON is wanted; each stands in for the other if that is missing. */
export function readAnswer(all: Part[], metadata: z.output<typeof Metadata>, { task, rules }: Asked): Reading {
  const since = (version: GraderVersion) => rules === undefined || isSince(rules, version);
  const parts = since("9") ? all.filter((part) => !isAside(part)) : all;
  const values: ExactJson[] = [];
  const calls: unknown[][] = [];
  for (const part of parts) {
    if (part.kind !== "data") continue;
    const made = CallsData.safeParse(part.data);
    if (made.success) calls.push(made.data.tool_calls);
    else values.push(part.data);
  }
  const text = parts.some(({ kind }) => kind === "text") ? textOf(parts) : undefined;
  const written = task.output_format === "tool_calls" && since("10") ? callsIn(text) : undefined;
  const made = calls.length === 0 ? written : calls.flat();
  const tool_calls = ToolCalls.optional().safeParse(metadata?.tool_calls ?? made);
  if (!tool_calls.success) return misfit(tool_calls.error, "tool_calls");
  const data = values.length > 1 ? values : values[0];
  return answered({
    output: task.output_format === "json" ? (data ?? text ?? data) : (text ?? data),
    refused: metadata?.refused,
    tool_calls: tool_calls.data,
    usage: metadata?.usage,
  });
}

/** The calls that a text holds and nothing else, in a code fence or not: how an agent makes them that is given the text alone. */
function callsIn(text: string | undefined): unknown[] | undefined {
  if (text === undefined) return undefined;
  return CallsData.safeParse(readJson(inPlainWriting("json_fields", text, "10"))).data?.tool_calls;
}

function isAside(part: Part): boolean {
  const metadata = "metadata" in part && isRecord(part.metadata) ? part.metadata : {};
  return Object.entries(metadata).some(([name, value]) => ASIDE.test(name) && Boolean(value));
}

function textOf(parts: Part[] = []): string {
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
}
