import { createHash, randomUUID } from "node:crypto";
import { BadRequest, durationMs, evaluate } from "./values.ts";

/** Header names in lower case with their values. */
export type Headers = Readonly<Record<string, string>>;

/** A limit shared by all messages of one flow-control key: so many at once, and so many starts a period. */
export interface Limits {
  readonly parallelism: number;
  readonly rate: number;
  readonly periodMs: number;
}

/** Where a callback goes, with the publish headers that configure it. */
export interface CallbackTarget {
  readonly url: string;
  readonly headers: Headers;
}

/** A message to deliver. Times are Unix milliseconds; `due` is when the next attempt may start. */
export interface Message {
  readonly id: string;
  readonly url: string;
  readonly method: string;
  /** The headers that the destination gets. */
  readonly headers: Headers;
  readonly body: Buffer;
  readonly createdAt: number;
  readonly due: number;
  readonly retried: number;
  readonly maxRetries: number;
  readonly retryDelay: string | undefined;
  readonly timeoutMs: number;
  readonly queue: string | undefined;
  readonly flow: ({ readonly key: string } & Limits) | undefined;
  readonly callback: CallbackTarget | undefined;
  readonly failureCallback: CallbackTarget | undefined;
  readonly labels: readonly string[];
  readonly scheduleId: string | undefined;
}

/** What a publish call asks for: a message, and the key under which a repetition is recognised. */
export interface Draft {
  readonly message: Message;
  readonly deduplicationKey: string | undefined;
}

/** A publish request, with its headers still as the client sent them. */
export interface PublishRequest {
  readonly destination: string;
  readonly headers: Headers;
  readonly body: Buffer;
  readonly queue?: string | undefined;
  readonly scheduleId?: string | undefined;
}

const DEFAULT_RETRIES = 3;
const DEFAULT_TIMEOUT_MS = 15 * 60_000;

const METHODS = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);
const NOT_FORWARDED = new Set(["connection", "content-length", "host", "transfer-encoding"]);

/**
 * The message that a publish request at `now` asks for, by QStash's `Upstash-*` headers.
 * @throws BadRequest for a malformed header or a destination that is not plain http to a loopback address.
 */
export function draft(request: PublishRequest, now: number): Draft {
  const { headers, body } = request;
  const url = loopbackUrl(request.destination);
  const method = headers["upstash-method"] ?? "POST";
  if (!METHODS.has(method)) throw new BadRequest(`invalid Upstash-Method: ${method}`);
  const forwarded = forwardedHeaders(headers);
  const timeout = headers["upstash-timeout"];
  const message: Message = {
    id: newMessageId(),
    url,
    method,
    headers: forwarded,
    body,
    createdAt: now,
    due: firstAttemptAt(headers, now),
    retried: 0,
    maxRetries: wholeNumber(headers, "upstash-retries") ?? DEFAULT_RETRIES,
    retryDelay: retryDelay(headers),
    timeoutMs: timeout === undefined ? DEFAULT_TIMEOUT_MS : durationMs(timeout, "Upstash-Timeout"),
    queue: resourceName(request.queue, "queueName"),
    flow: flowControl(headers),
    callback: callbackTarget(headers, "upstash-callback"),
    failureCallback: callbackTarget(headers, "upstash-failure-callback"),
    labels: headers["upstash-label"]?.split(",").map((label) => resourceName(label, "label")) ?? [],
    scheduleId: request.scheduleId,
  };
  return { message, deduplicationKey: deduplicationKey(headers, message) };
}

/** A fresh message id. */
export function newMessageId(): string {
  return `msg_${randomUUID().replaceAll("-", "")}`;
}

// The destination unchanged, if it is plain http to a loopback address.
function loopbackUrl(destination: string): string {
  const url = URL.parse(destination);
  if (url === null) throw new BadRequest(`invalid destination url: ${destination}`);
  const loopback = url.hostname === "localhost" || url.hostname === "[::1]" || /^127(\.\d+){3}$/.test(url.hostname);
  if (url.protocol !== "http:" || !loopback) {
    throw new BadRequest(`destination refused: this broker delivers by http to loopback addresses only: ${url.origin}`);
  }
  return destination;
}

// The names that QStash takes for queues, labels and flow-control keys.
function resourceName<T extends string | undefined>(name: T, what: string): T {
  if (name !== undefined && !/^[\w.-]+$/.test(name)) {
    throw new BadRequest(`${what} must be alphanumeric, hyphen, underscore, or period`);
  }
  return name;
}

function wholeNumber(headers: Headers, name: string): number | undefined {
  const text = headers[name];
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new BadRequest(`invalid ${name}: ${text}`);
  return Number(text);
}

function retryDelay(headers: Headers): string | undefined {
  const expression = headers["upstash-retry-delay"];
  if (expression !== undefined) evaluate(expression, 0);
  return expression;
}

function firstAttemptAt(headers: Headers, now: number): number {
  const notBefore = wholeNumber(headers, "upstash-not-before");
  if (notBefore !== undefined) return notBefore * 1000;
  const delay = headers["upstash-delay"];
  return delay === undefined ? now : now + durationMs(delay, "Upstash-Delay");
}

function forwardedHeaders(headers: Headers): Headers {
  const forwarded: Record<string, string> = {};
  const contentType = headers["content-type"];
  if (contentType !== undefined) forwarded["content-type"] = contentType;
  return Object.assign(forwarded, unprefixed(headers, "upstash-forward-", NOT_FORWARDED));
}

function unprefixed(headers: Headers, prefix: string, except: ReadonlySet<string> = new Set()): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.startsWith(prefix) && !except.has(name.slice(prefix.length)))
      .map(([name, value]) => [name.slice(prefix.length), value]),
  );
}

function callbackTarget(headers: Headers, name: string): CallbackTarget | undefined {
  const url = headers[name];
  if (url === undefined) return undefined;
  const own = unprefixed(headers, `${name}-`);
  // A callback is retried as often as its message, unless it says otherwise.
  if (headers["upstash-retries"] !== undefined) own["retries"] ??= headers["upstash-retries"];
  const prefixed = Object.fromEntries(Object.entries(own).map(([key, value]) => [`upstash-${key}`, value]));
  const target = { url, headers: { ...prefixed, "content-type": "application/json" } };
  // Refuses now what could not be published later.
  draft({ destination: url, headers: target.headers, body: Buffer.alloc(0) }, 0);
  return target;
}

function flowControl(headers: Headers): Message["flow"] {
  const key = resourceName(headers["upstash-flow-control-key"], "flowControlKey");
  if (key === undefined) return undefined;
  const text = headers["upstash-flow-control-value"] ?? "";
  const given = new Map<string, string>();
  for (const part of text.split(",")) {
    const [name = "", value = ""] = part.split("=").map((side) => side.trim());
    given.set(name.toLowerCase(), value);
  }
  const limit = (name: string): number => {
    const value = given.get(name);
    if (value === undefined) return Number.POSITIVE_INFINITY;
    if (!/^[1-9]\d*$/.test(value)) throw new BadRequest(`invalid Upstash-Flow-Control-Value: ${text}`);
    return Number(value);
  };
  if (!given.has("parallelism") && !given.has("rate")) {
    throw new BadRequest("Upstash-Flow-Control-Value needs parallelism or rate");
  }
  const period = given.get("period") ?? "1s";
  return {
    key,
    parallelism: limit("parallelism"),
    rate: limit("rate"),
    periodMs: durationMs(/^\d+$/.test(period) ? `${period}s` : period, "flow-control period"),
  };
}

function deduplicationKey(headers: Headers, message: Message): string | undefined {
  const id = headers["upstash-deduplication-id"];
  if (id?.includes(":")) throw new BadRequest("DeduplicationId cannot contain ':'");
  if (id !== undefined) return `id:${id}`;
  if (headers["upstash-content-based-deduplication"] !== "true") return undefined;
  const forwarded = Object.entries(message.headers).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash("sha256").update(JSON.stringify([message.url, forwarded]));
  return `content:${hash.update(message.body).digest("hex")}`;
}
