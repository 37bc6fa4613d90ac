import { isUtf8 } from "node:buffer";
import { type DeadLetter, headerLists } from "./callback.ts";
import type { Answer } from "./delivery.ts";
import type { Message } from "./message.ts";

/** A step in the life of a message, as QStash names it. */
export type State = "CREATED" | "ACTIVE" | "DELIVERED" | "RETRY" | "FAILED" | "CANCELED";

/** Notes one step at `time` (Unix ms), with the answer that led to it. */
export type LogStep = (state: State, message: Message, time: number, answer?: Answer) => void;

/** One step of a message at `time` (Unix ms). */
export interface LogEntry {
  readonly time: number;
  readonly state: State;
  readonly message: Message;
  readonly answer: Answer | undefined;
}

/** The latest steps, newest first. */
export interface Log {
  readonly add: LogStep;
  entries(): LogEntry[];
}

const KEPT_ENTRIES = 2000;

/** A log in memory of the latest two thousand steps. */
export function createLog(): Log {
  let kept: LogEntry[] = [];
  return {
    add(state, message, time, answer) {
      kept.push({ time, state, message, answer });
      if (kept.length > 2 * KEPT_ENTRIES) kept = kept.slice(-KEPT_ENTRIES);
    },
    entries: () => kept.slice(-KEPT_ENTRIES).toReversed(),
  };
}

/** A message as QStash's API shows it: `body`, or `bodyBase64` when it is no UTF-8; times in Unix ms. */
export function messageView(message: Message): Record<string, unknown> {
  const { flow } = message;
  const finite = (value: number | undefined): number | undefined => (Number.isFinite(value) ? value : undefined);
  return {
    messageId: message.id,
    url: message.url,
    method: message.method,
    header: headerLists(message.headers),
    ...bodyView(message.body, "body", "bodyBase64"),
    maxRetries: message.maxRetries,
    retryDelayExpression: message.retryDelay,
    notBefore: message.due,
    createdAt: message.createdAt,
    callback: message.callback?.url,
    failureCallback: message.failureCallback?.url,
    queueName: message.queue,
    scheduleId: message.scheduleId,
    callerIP: "127.0.0.1",
    flowControlKey: flow?.key,
    parallelism: finite(flow?.parallelism),
    rate: finite(flow?.rate),
    period: flow === undefined ? undefined : flow.periodMs / 1000,
    label: message.labels[0],
    labels: message.labels,
  };
}

/** A dead letter as QStash's API shows it. */
export function deadLetterView({ id, message, answer }: DeadLetter): Record<string, unknown> {
  return {
    ...messageView(message),
    dlqId: id,
    responseStatus: answer.status,
    responseHeader: answer.headers,
    ...bodyView(answer.body, "responseBody", "responseBodyBase64"),
  };
}

/** A log entry as QStash's API shows it; after a failed attempt with the next attempt's time and the reason. */
export function logView({ time, state, message, answer }: LogEntry): Record<string, unknown> {
  const failed = state === "RETRY" || state === "FAILED";
  return {
    time,
    state,
    messageId: message.id,
    url: message.url,
    nextDeliveryTime: state === "RETRY" ? message.due : undefined,
    error: failed ? (answer?.error ?? `status ${answer?.status}`) : undefined,
    responseStatus: answer?.status,
    queueName: message.queue,
    scheduleId: message.scheduleId,
    labels: message.labels,
  };
}

function bodyView(body: Buffer, text: string, base64: string): Record<string, string> {
  return isUtf8(body) ? { [text]: body.toString() } : { [base64]: body.toString("base64") };
}
