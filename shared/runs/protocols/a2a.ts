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
  readAnswer,
  readResult,
  readTask,
  refusesData,
  STATES,
  textAfter,
} from "./a2a-reading.ts";
import type { Protocol } from "./protocol.ts";
import { List, listOf } from "./reading.ts";

const Part = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("text"), text: z.string(), metadata: z.unknown().optional() }),
  z.object({ kind: z.literal("data"), data: AnswerJson, metadata: z.unknown().optional() }),
  z.object({ kind: z.literal("file") }),
]);
const Parts = listOf(Part, MAX_PARTS);

const Message = z.object({ kind: z.literal("message"), parts: Parts, metadata: Metadata });

const Task = z.object({
  kind: z.literal("task"),
  id: z.string().max(MAX_ID_LENGTH),
  status: z.object({
    state: z.enum(STATES),
    message: Message.nullish(),
  }),
  // Read as one list of parts, so that `MAX_PARTS` bounds all of them together.
  artifacts: listOf(z.object({ parts: List }), MAX_ARTIFACTS)
    .transform((artifacts) => artifacts.flatMap(({ parts }) => parts))
    .pipe(Parts)
    .nullish(),
  history: z.unknown().optional(),
  metadata: Metadata,
});

const MessageOrTask = z.discriminatedUnion("kind", [Message, Task]);

const POLLING = { method: "tasks/get", task: Task, message: Message };

function send({ run, task }: Job, messageId: string, datas: unknown[]) {
  return call(run.id, "message/send", {
    message: {
      kind: "message",
      role: "user",
      messageId,
      parts: [
        { kind: "text", text: task.prompt },
        ...datas.map((data) => ({ kind: "data", data })),
        ...textAfter(task).map((text) => ({ kind: "text", text })),
      ],
    },
    configuration: { blocking: true, acceptedOutputModes: ["text/plain", "application/json"] },
  });
}

/**
 * Agent2Agent 0.3 over JSON-RPC: `message/send`, answered by a message, or by a task that is polled with `tasks/get` until
 * it has ended. The prompt is the first text part; the input, if there is one, is a data part of its own; the last data part
 * says what kind of answer is wanted; and a last text part has both in words, for agents that get no data parts. A server
 * that refuses these is asked once more by the texts alone. The run's id is the id of every request: there is never more than
 * one in flight.
 */
export const a2a: Protocol = {
  callsBack: false,

  request: (job) => send(job, job.run.id, dataOf(job.task)),

  inOtherForm: (body, job) => (refusesData(body) ? send(job, `${job.run.id}-text`, []) : null),

  read(body, asked) {
    return readResult(body, asked, MessageOrTask, (result) =>
      result.kind === "task" ? readTask(result, asked, POLLING) : readAnswer(result.parts, result.metadata, asked),
    );
  },
};
