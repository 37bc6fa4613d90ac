import type { DeadLetter } from "./callback.ts";
import type { LogEntry } from "./log.ts";
import type { Message } from "./message.ts";

/** One page of a listing; `cursor` asks for the next, if there is one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly cursor: string | undefined;
}

const DEFAULT_PAGE = 100;

/** The page that the `cursor` and `count` of a query ask for, of 100 entries unless told. */
export function page<T>(all: readonly T[], query: URLSearchParams): Page<T> {
  const start = Number(query.get("cursor") ?? 0);
  const end = start + Number(query.get("count") ?? DEFAULT_PAGE);
  return { items: all.slice(start, end), cursor: end < all.length ? String(end) : undefined };
}

/** The messages of `messageIds`, or those to which every filter of the query applies. */
export function selectMessages(all: Iterable<Message>, query: URLSearchParams): Message[] {
  return [...all].filter((message) => isAny(query, "messageIds", message.id) && matches(message, query));
}

/** The dead letters of `dlqIds`, or those to which every filter of the query applies. */
export function selectDeadLetters(all: Iterable<DeadLetter>, query: URLSearchParams): DeadLetter[] {
  return [...all].filter(
    ({ id, message, answer }) =>
      isAny(query, "dlqIds", id) &&
      isAny(query, "messageId", message.id) &&
      isAny(query, "responseStatus", String(answer.status)) &&
      matches(message, query),
  );
}

/** The log entries of `messageIds`, or those to which every filter of the query applies. */
export function selectLog(all: readonly LogEntry[], query: URLSearchParams): LogEntry[] {
  return all.filter(
    ({ message, state }) =>
      isAny(query, "messageIds", message.id) &&
      isAny(query, "messageId", message.id) &&
      isAny(query, "state", state) &&
      matches(message, query),
  );
}

// A filter that is not given lets everything pass; one given several times, whatever has any of its values.
function isAny(query: URLSearchParams, name: string, ...values: readonly (string | undefined)[]): boolean {
  const wanted = query.getAll(name);
  return wanted.length === 0 || values.some((value) => value !== undefined && wanted.includes(value));
}

function matches(message: Message, query: URLSearchParams): boolean {
  const from = Number(query.get("fromDate") ?? Number.NEGATIVE_INFINITY);
  const to = Number(query.get("toDate") ?? Number.POSITIVE_INFINITY);
  return (
    message.createdAt >= from &&
    message.createdAt <= to &&
    isAny(query, "url", message.url) &&
    isAny(query, "queueName", message.queue) &&
    isAny(query, "scheduleId", message.scheduleId) &&
    isAny(query, "flowControlKey", message.flow?.key) &&
    isAny(query, "label", ...message.labels)
  );
}
