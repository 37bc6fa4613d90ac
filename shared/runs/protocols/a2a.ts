import * as z from "zod";
import { type Answer, AnswerJson } from "../answer.ts";
import type { Asked, Protocol, Reading } from "./protocol.ts";
import { answered, invalid, List, listOf, misfit, reportedFailure, ToolCalls } from "./reading.ts";

const MAX_PARTS = 10_000;
const MAX_ARTIFACTS = 1000;
const MAX_ID_LENGTH = 1024;

const Part = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("text"), text: z.string() }),
  z.object({ kind: z.literal("data"), data: AnswerJson }),
  z.object({ kind: z.literal("file") }),
]);
const Parts = listOf(Part, MAX_PARTS);

const Metadata = z
  .object({ usage: AnswerJson.optional(), refused: z.boolean().optional(), tool_calls: ToolCalls.optional() })
  .nullish();

const Message = z.object({ kind: z.literal("message"), parts: Parts, metadata: Metadata });

const Task = z.object({
  kind: z.literal("task"),
  id: z.string().max(MAX_ID_LENGTH),
  status: z.object({
    state: z.enum([
      "submitted",
      "working",
      "input-required",
      "auth-required",
      "completed",
      "canceled",
      "failed",
      "rejected",
      "unknown",
    ]),
    message: Message.nullish(),
  }),
  // Read as one list of parts, so that `MAX_PARTS` bounds all of them together.
  artifacts: listOf(z.object({ parts: List }), MAX_ARTIFACTS)
    .transform((artifacts) => artifacts.flatMap(({ parts }) => parts))
    .pipe(Parts)
    .nullish(),
  metadata: Metadata,
});

const MessageOrTask = z.discriminatedUnion("kind", [Message, Task]);

const RpcResponse = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number(), z.null()]),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).nullish(),
});

/** A data part that holds tool calls and nothing else. */
const CallsData = z.strictObject({ tool_calls: List });

/**
 * Agent2Agent 0.3 over JSON-RPC: `message/send`, answered by a message, or by a task that is polled with `tasks/get` until
 * it has ended. The prompt is the text part; the input, if there is one, is a data part of its own; the last data part says
 * what kind of answer is wanted. The run's id is the id of every request: there is never more than one in flight.
 */
export const a2a: Protocol = {
  callsBack: false,

  request({ run, task }) {
    const wanted = {
      output_format: task.output_format,
      ...(task.output_schema === null ? {} : { output_schema: task.output_schema }),
      ...(task.tools === null ? {} : { tools: task.tools }),
    };
    return call(run.id, "message/send", {
      message: {
        kind: "message",
        role: "user",
        messageId: run.id,
        parts: [
          { kind: "text", text: task.prompt },
          ...(task.input === null
            ? []
            : [{ kind: "data", data: isRecord(task.input) ? task.input : { input: task.input } }]),
          { kind: "data", data: wanted },
        ],
      },
      configuration: { blocking: true, acceptedOutputModes: ["text/plain", "application/json"] },
    });
  },

  read(body, asked) {
    return readResult(body, asked, MessageOrTask, (result) =>
      result.kind === "task" ? readTask(result, asked) : readAnswer(result.parts, result.metadata, asked),
    );
  },
};

/** Whether a value may be the `data` of a data part, which has to be an object in A2A. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function call(id: string, method: string, params: Record<string, unknown>): Record<string, unknown> {
  return { jsonrpc: "2.0", id, method, params };
}

/** Reads a JSON-RPC 2.0 response: an error is the agent's own failure, a result is passed to `read`. */
function readResult<T>(body: unknown, { run }: Asked, schema: z.ZodType<T>, read: (result: T) => Reading): Reading {
  const response = RpcResponse.safeParse(body);
  if (!response.success) return misfit(response.error);
  const { id, result, error } = response.data;
  // A server that could not read a request does not know its id.
  if (id !== run.id && !(error && id === null)) return invalid("The answer is to another request: its id differs.");
  if (error) return reportedFailure(`The agent answered with the JSON-RPC error ${error.code}`, error.message);
  const parsed = schema.safeParse(result);
  return parsed.success ? read(parsed.data) : misfit(parsed.error, "result");
}

function readTask(task: z.output<typeof Task>, asked: Asked): Reading {
  const { state, message } = task.status;
  switch (state) {
    case "submitted":
    case "working":
    case "unknown":
      return {
        kind: "pending",
        request: call(asked.run.id, "tasks/get", { id: task.id }),
        read: (body) =>
          readResult(body, asked, Task, (later) =>
            later.id === task.id ? readTask(later, asked) : invalid("The answer is about another task."),
          ),
      };
    case "completed": {
      const parts = task.artifacts?.length ? task.artifacts : (message?.parts ?? []);
      return readAnswer(parts, { ...message?.metadata, ...task.metadata }, asked);
    }
    case "input-required":
      return reportedFailure("The agent wants more input, and a run has none to give", textOf(message?.parts));
    case "auth-required":
      return reportedFailure("The agent wants credentials, and a run has none to give", textOf(message?.parts));
    case "canceled":
    case "failed":
    case "rejected":
      return reportedFailure(`The agent ended its task as ${state}`, textOf(message?.parts));
  }
}

/** The text is the output, or the data if JSON is wanted; each stands in for the other if that is missing. */
function readAnswer(parts: z.output<typeof Parts>, metadata: z.output<typeof Metadata>, { task }: Asked): Reading {
  const values: Answer["output"][] = [];
  const calls: unknown[][] = [];
  for (const part of parts) {
    if (part.kind !== "data") continue;
    const made = CallsData.safeParse(part.data);
    if (made.success) calls.push(made.data.tool_calls);
    else values.push(part.data);
  }
  const made = calls.length === 0 ? undefined : calls.flat();
  const tool_calls = ToolCalls.optional().safeParse(metadata?.tool_calls ?? made);
  if (!tool_calls.success) return misfit(tool_calls.error, "tool_calls");
  const text = parts.some(({ kind }) => kind === "text") ? textOf(parts) : undefined;
  const data = values.length > 1 ? values : values[0];
  return answered({
    output: task.output_format === "json" ? (data ?? text) : (text ?? data),
    refused: metadata?.refused,
    tool_calls: tool_calls.data,
    usage: metadata?.usage,
  });
}

function textOf(parts: z.output<typeof Parts> = []): string {
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
}
