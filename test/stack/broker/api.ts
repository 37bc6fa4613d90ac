import * as z from "zod";
import type { DeadLetter } from "./callback.ts";
import type { Engine, QueueConfig } from "./engine.ts";
import { page, selectDeadLetters, selectLog, selectMessages } from "./filters.ts";
import { type DailyQuota, withinPlan } from "./limits.ts";
import { deadLetterView, type Log, logView, messageView } from "./log.ts";
import { draft, type Draft, type Headers, newMessageId } from "./message.ts";
import { type Schedules, scheduleView } from "./schedules.ts";
import { BadRequest } from "./values.ts";
import { bearer, type Handler, json, type Reply, type Request } from "../http.ts";
import { QSTASH_BATCH_MESSAGES, type QStashLimits } from "../limits.ts";

/** What the API stands on. `onPublished` hears how many messages a call brought. */
export interface ApiParts {
  readonly engine: Engine;
  readonly schedules: Schedules;
  readonly log: Log;
  readonly token: string;
  readonly signingKeys: { readonly current: string; readonly next: string };
  readonly plan: QStashLimits;
  readonly quota: DailyQuota;
  readonly onPublished: (messages: number) => void;
}

type Route = readonly [method: string, path: RegExp, handle: (request: Request, part: string, more: string) => Reply];

const Batch = z.array(
  z.object({
    destination: z.string(),
    headers: z.record(z.string(), z.string()).default({}),
    body: z.string().default(""),
    queue: z.string().optional(),
  }),
);
const QueueUpsert = z.object({
  queueName: z.string().min(1),
  parallelism: z.int().positive().default(1),
  paused: z.boolean().default(false),
});

const DONE: Reply = { status: 200 };
const NOT_FOUND = json(404, { error: "not found" });

/** QStash's REST API, version 2, as its own client speaks it: see https://upstash.com/docs/qstash/api. */
export function createApi(parts: ApiParts): Handler {
  const routes = [
    ...publishing(parts),
    ...messages(parts),
    ...deadLetters(parts),
    ...schedules(parts),
    ...queues(parts),
  ];
  return (request) => {
    if (bearer(request.headers) !== parts.token) return json(401, { error: "invalid token" });
    try {
      for (const [method, path, handle] of routes) {
        const match = method === request.method ? path.exec(request.url.pathname) : null;
        if (match !== null) return handle(request, decoded(match[1]), decoded(match[2]));
      }
      return NOT_FOUND;
    } catch (error) {
      if (error instanceof BadRequest) return json(400, { error: error.message });
      throw error;
    }
  };
}

function publishing({ engine, plan, quota, onPublished }: ApiParts): Route[] {
  function publish(request: Request, path: string, queue?: string): Reply {
    const { body } = request;
    const destination = path + request.url.search;
    const drawn = draft({ destination, headers: lowerCase(request.headers), body, queue }, engine.now());
    const [receipt] = submit([withinPlan(drawn, plan, engine.now())]);
    return json(receipt?.deduplicated ? 202 : 201, receipt);
  }
  // A malformed message has the whole batch refused; one that the plan does not allow keeps no other from being taken.
  function batch(body: Buffer): Reply {
    const entries = parse(Batch, body);
    if (entries.length > QSTASH_BATCH_MESSAGES) throw new BadRequest("too many messages in one batch");
    const now = engine.now();
    const drafts = entries
      .map((entry) => draft({ ...entry, headers: lowerCase(entry.headers), body: Buffer.from(entry.body) }, now))
      .map((drawn) => refusable(() => withinPlan(drawn, plan, now)));
    const receipts = submit(drafts.filter((one) => "message" in one)).values();
    return json(
      200,
      drafts.map((one) => ("message" in one ? receipts.next().value : one)),
    );
  }
  function submit(drafts: readonly Draft[]): ReturnType<Engine["submit"]> {
    onPublished(drafts.length);
    const receipts = engine.submit(drafts);
    quota.add(receipts.filter(({ deduplicated }) => deduplicated === undefined).length, engine.now());
    return receipts;
  }
  const full = (): Reply | null => quota.refusal(engine.now());
  return [
    ["POST", /^\/v2\/publish\/(.+)$/, (request, to) => full() ?? publish(request, to)],
    ["POST", /^\/v2\/enqueue\/([^/]+)\/(.+)$/, (request, queue, to) => full() ?? publish(request, to, queue)],
    ["POST", /^\/v2\/batch$/, (request) => full() ?? batch(request.body)],
  ];
}

function messages({ engine, log, signingKeys }: ApiParts): Route[] {
  const cancelled = (ids: readonly string[]): Reply => json(200, { cancelled: engine.cancel(ids) });
  return [
    ["GET", /^\/v2\/messages\/([^/]+)$/, (_request, id) => found(engine.messages.get(id), messageView)],
    ["DELETE", /^\/v2\/messages\/([^/]+)$/, (_request, id) => (engine.messages.has(id) ? cancelled([id]) : NOT_FOUND)],
    [
      "DELETE",
      /^\/v2\/messages$/,
      ({ url }) => cancelled(selectMessages(engine.messages.values(), url.searchParams).map(({ id }) => id)),
    ],
    [
      "GET",
      /^\/v2\/(?:events|logs)$/,
      ({ url }) => {
        const { items, cursor } = page(selectLog(log.entries(), url.searchParams), url.searchParams);
        return json(200, { events: items.map(logView), cursor });
      },
    ],
    ["GET", /^\/v2\/keys$/, () => json(200, signingKeys)],
  ];
}

function deadLetters({ engine }: ApiParts): Route[] {
  const all = engine.deadLetters;
  const forget = (letters: readonly DeadLetter[]): number => letters.filter(({ id }) => all.delete(id)).length;

  // As what it takes is gone afterwards, a bulk action goes on from the start.
  function bulk({ url }: Request): { items: readonly DeadLetter[]; cursor: string | undefined } {
    const { items, cursor } = page(selectDeadLetters(all.values(), url.searchParams), url.searchParams);
    return { items, cursor: cursor === undefined ? undefined : "0" };
  }
  function retry(letters: readonly DeadLetter[]): ReturnType<Engine["submit"]> {
    const now = engine.now();
    const again = letters.map(({ message }) => ({
      ...message,
      id: newMessageId(),
      createdAt: now,
      due: now,
      retried: 0,
    }));
    forget(letters);
    return engine.submit(again.map((message) => ({ message, deduplicationKey: undefined })));
  }
  return [
    [
      "GET",
      /^\/v2\/dlq$/,
      ({ url }) => {
        const { items, cursor } = page(selectDeadLetters(all.values(), url.searchParams), url.searchParams);
        return json(200, { messages: items.map(deadLetterView), cursor });
      },
    ],
    ["GET", /^\/v2\/dlq\/([^/]+)$/, (_request, id) => found(all.get(id), deadLetterView)],
    [
      "DELETE",
      /^\/v2\/dlq$/,
      (request) => {
        const { items, cursor } = bulk(request);
        return json(200, { deleted: forget(items), cursor });
      },
    ],
    ["DELETE", /^\/v2\/dlq\/([^/]+)$/, (_request, id) => (all.delete(id) ? DONE : NOT_FOUND)],
    [
      "POST",
      /^\/v2\/dlq\/retry$/,
      (request) => {
        const { items, cursor } = bulk(request);
        return json(200, { responses: retry(items), cursor });
      },
    ],
  ];
}

function schedules({ engine, schedules: all }: ApiParts): Route[] {
  const { table } = all;
  return [
    [
      "POST",
      /^\/v2\/schedules\/(.+)$/,
      ({ url, headers, body }, path) => {
        const destination = path + url.search;
        const scheduleId = all.put({ destination, headers: lowerCase(headers), body }, engine.now());
        engine.wake();
        return json(201, { scheduleId });
      },
    ],
    ["GET", /^\/v2\/schedules$/, () => json(200, [...table.values()].map(scheduleView))],
    ["GET", /^\/v2\/schedules\/([^/]+)$/, (_request, id) => found(table.get(id), scheduleView)],
    ["DELETE", /^\/v2\/schedules\/([^/]+)$/, (_request, id) => (table.delete(id) ? DONE : NOT_FOUND)],
    [
      "PATCH",
      /^\/v2\/schedules\/([^/]+)\/(pause|resume)$/,
      (_request, id, verb) => {
        if (!all.setPaused(id, verb === "pause", engine.now())) return NOT_FOUND;
        engine.wake();
        return DONE;
      },
    ],
  ];
}

function queues({ engine }: ApiParts): Route[] {
  const view = (queue: QueueConfig): object => ({
    ...queue,
    lag: [...engine.messages.values()].filter((message) => message.queue === queue.name).length,
  });
  return [
    [
      "POST",
      /^\/v2\/queues$/,
      ({ body }) => {
        const { queueName, ...change } = parse(QueueUpsert, body);
        engine.setQueue(queueName, change);
        return DONE;
      },
    ],
    ["GET", /^\/v2\/queues$/, () => json(200, [...engine.queues.values()].map(view))],
    ["GET", /^\/v2\/queues\/([^/]+)$/, (_request, name) => found(engine.queues.get(name), view)],
    [
      "DELETE",
      /^\/v2\/queues\/([^/]+)$/,
      (_request, name) => {
        if (!engine.queues.has(name)) return NOT_FOUND;
        engine.deleteQueue(name);
        return DONE;
      },
    ],
    [
      "POST",
      /^\/v2\/queues\/([^/]+)\/(pause|resume)$/,
      (_request, name, verb) => {
        engine.setQueue(name, { paused: verb === "pause" });
        return DONE;
      },
    ],
  ];
}

// A destination in the path stands as it is, anything else percent-encoded.
function decoded(part = ""): string {
  return /^https?:/.test(part) ? part : decodeURIComponent(part);
}

function found<T>(value: T | undefined, view: (value: T) => unknown): Reply {
  return value === undefined ? NOT_FOUND : json(200, view(value));
}

// What it gives, or the error that it refuses with.
function refusable<T>(work: () => T): T | { error: string } {
  try {
    return work();
  } catch (error) {
    if (error instanceof BadRequest) return { error: error.message };
    throw error;
  }
}

function lowerCase(headers: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string") result[name.toLowerCase()] = value;
  }
  return result;
}

function parse<T>(schema: z.ZodType<T>, body: Buffer): T {
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    throw new BadRequest("the body is not JSON");
  }
  const result = schema.safeParse(value);
  if (!result.success) throw new BadRequest(z.prettifyError(result.error));
  return result.data;
}
