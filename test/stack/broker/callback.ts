import type { Answer } from "./delivery.ts";
import { draft, type CallbackTarget, type Draft, type Headers, type Message } from "./message.ts";

/** A message that could not be delivered, with the last answer to it. `failedAt` in Unix ms. */
export interface DeadLetter {
  readonly id: string;
  readonly message: Message;
  readonly answer: Answer;
  readonly failedAt: number;
}

/** Headers in the form in which QStash's API shows them. */
export function headerLists(headers: Headers): Record<string, string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
}

/**
 * The publication that tells `target` of an answer, or with `dlqId` of the final failure; the body's fields are those
 * of https://upstash.com/docs/qstash/features/callbacks. Without any answer `status` is 0 and `body` the error.
 */
export function callbackDraft(
  target: CallbackTarget,
  { message, answer }: Pick<DeadLetter, "message" | "answer">,
  now: number,
  dlqId?: string,
): Draft {
  const body = {
    status: answer.status,
    header: answer.headers,
    body: (answer.error === undefined ? answer.body : Buffer.from(answer.error)).toString("base64"),
    retried: message.retried,
    maxRetries: message.maxRetries,
    ...(dlqId !== undefined && { dlqId }),
    sourceMessageId: message.id,
    topicName: "",
    endpointName: "",
    url: message.url,
    method: message.method,
    sourceHeader: headerLists(message.headers),
    sourceBody: message.body.toString("base64"),
    notBefore: message.due,
    createdAt: message.createdAt,
    scheduleId: message.scheduleId ?? "",
    callerIP: "127.0.0.1",
  };
  return draft({ destination: target.url, headers: target.headers, body: Buffer.from(JSON.stringify(body)) }, now);
}
