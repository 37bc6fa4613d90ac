import * as z from "zod";
import { AnswerJson } from "../answer.ts";
import type { Job } from "../job.ts";
import {
  call,
  dataOf,
  MAX_ARTIFACTS,
  MAX_ID_LENGTH,
  MAX_PARTS,
  Metadata,
  type Part as AnyPart,
  readAnswer,
  readResult,
  readTask,
  refusesData,
  type Task as AnyTask,
  textAfter,
} from "./a2a-reading.ts";
import type { Protocol } from "./protocol.ts";
import { invalid, List, listOf } from "./reading.ts";

/** A part says by its one member what it holds; a file is one by its bytes or its address. */
const Part = z.union([
  z
    .object({ text: z.string(), metadata: z.unknown().optional() })
    .transform((part): AnyPart => ({ kind: "text", ...part })),
  z
    .object({ data: AnswerJson, metadata: z.unknown().optional() })
    .transform((part): AnyPart => ({ kind: "data", ...part })),
  z.object({ raw: z.string() }).transform((): AnyPart => ({ kind: "file" })),
  z.object({ url: z.string() }).transform((): AnyPart => ({ kind: "file" })),
]);
const Parts = listOf(Part, MAX_PARTS);
// The JSON of Protocol Buffers leaves out lists without items.
const Message = z.object({ parts: Parts.default([]), metadata: Metadata });

const STATE_NAMES: ReadonlyMap<string, AnyTask["status"]["state"]> = new Map([
  ["TASK_STATE_UNSPECIFIED", "unknown"],
  ["TASK_STATE_SUBMITTED", "submitted"],
  ["TASK_STATE_WORKING", "working"],
  ["TASK_STATE_INPUT_REQUIRED", "input-required"],
  ["TASK_STATE_AUTH_REQUIRED", "auth-required"],
  ["TASK_STATE_COMPLETED", "completed"],
  ["TASK_STATE_CANCELED", "canceled"],
  ["TASK_STATE_FAILED", "failed"],
  ["TASK_STATE_REJECTED", "rejected"],
]);

const State = z
  .string()
  .transform((name) => STATE_NAMES.get(name))
  .refine((state) => state !== undefined)
  .transform((state): AnyTask["status"]["state"] => state ?? "unknown");

const TASK = {
  id: z.string().max(MAX_ID_LENGTH),
  status: z.object({
    state: State,
    message: Message.nullish(),
  }),
  artifacts: listOf(z.object({ parts: List.default([]) }), MAX_ARTIFACTS)
    .transform((artifacts) => artifacts.flatMap(({ parts }) => parts))
    .pipe(Parts)
    .nullish(),
  history: z.unknown().optional(),
  metadata: Metadata,
};
const Task: z.ZodType<AnyTask> = z.object(TASK);

const MessageOrTask = z.object({ task: Task.optional(), message: Message.optional() });

/** What `GetTask` gives. With what `SendMessage` gives beside it, one would have to know which of the two was called. */
const LaterTask: z.ZodType<AnyTask> = z.object({ ...TASK, task: z.never().optional(), message: z.never().optional() });

const POLLING = { method: "GetTask", task: LaterTask, message: Message };

function send({ run, task }: Job, messageId: string, datas: unknown[]) {
  return call(run.id, "SendMessage", {
    message: {
      messageId,
      role: "ROLE_USER",
      parts: [
        { text: task.prompt },
        ...datas.map((data) => ({ data, mediaType: "application/json" })),
        ...textAfter(task).map((text) => ({ text })),
      ],
    },
    configuration: { acceptedOutputModes: ["text/plain", "application/json"] },
  });
}

/**
 * Agent2Agent 1.0 over JSON-RPC: `SendMessage`, answered by a message, or by a task that is polled with `GetTask` until it
 * has ended. What is asked and answered is that of 0.3, written as 1.0 writes it, so that an agent may move from one to
 * the other without another result.
 */
export const a2a1: Protocol = {
  callsBack: false,
  headers: { "A2A-Version": "1.0" },

  request: (job) => send(job, job.run.id, dataOf(job.task)),

  inOtherForm: (body, job) => (refusesData(body) ? send(job, `${job.run.id}-text`, []) : null),

  read(body, asked) {
    return readResult(body, asked, MessageOrTask, ({ task, message }) => {
      if (task !== undefined) return readTask(task, asked, POLLING);
      if (message !== undefined) return readAnswer(message.parts, message.metadata, asked);
      return invalid("The result holds neither a message nor a task of A2A 1.0.");
    });
  },

  readLater(body, asked) {
    return readResult(body, asked, LaterTask, (task) => readTask(task, asked, POLLING));
  },
};
