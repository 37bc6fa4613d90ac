import { Buffer } from "node:buffer";
import { Client, QstashError } from "@upstash/qstash";
import * as z from "zod";
import type { Env } from "../platform/env.ts";
import type { Message, Publication, Publisher } from "../platform/message.ts";

/** How a consumer wants its messages sent. */
export interface Delivery {
  retries: number;
  /** QStash's expression in `retried` for the milliseconds before a retry; without one QStash uses its own. */
  retryDelay?: string;
  timeoutSeconds: number;
  parallelism: number | null;
  /** Whether its messages are owed until the work is done. */
  untilDone?: true;
}

const PUBLISH_TIMEOUT_MS = 10_000;

/** Most messages of one request. */
const BATCH_MESSAGES = 100;
/** Most bytes of one request: half of the largest message that QStash takes on any plan, in case a batch counts as one. */
const BATCH_BYTES = 500_000;
/** What the headers of one message add to a request, in bytes, at most. */
const HEADER_BYTES = 1_500;

/** The statuses with which QStash refuses a request for what it contains. */
const REFUSALS = new Set([400, 413, 422]);

/** QStash's answer to one message of a batch: null where it took it, else what it said. */
const Receipt = z
  .union([
    z.object({ messageId: z.string() }).transform(() => null),
    z.object({ error: z.string() }).transform(({ error }) => error),
  ])
  .catch("an answer that can't be read");

/** The publisher for these settings; `deliveries` says how each consumer wants its messages. */
export function createPublisher(env: Env, deliveries: ReadonlyMap<string, Delivery>): Publisher {
  const client = new Client({
    baseUrl: env.QSTASH_URL,
    token: env.QSTASH_TOKEN,
    devMode: false,
    retry: false,
    enableTelemetry: false,
  });

  /** What QStash said to each message: null where it took it. Throws where it took none. */
  async function send(messages: readonly Message[]): Promise<(string | null)[]> {
    const batch = client.batchJSON(messages.map((message) => toRequest(env, deliveries, message)));
    const answers = z.array(Receipt).parse(await Promise.race([batch, expiry(PUBLISH_TIMEOUT_MS)]));
    if (answers.length !== messages.length) throw new Error("QStash did not answer each message of a batch");
    return answers;
  }

  /** As `send`, but where QStash refuses a batch as a whole, its halves are tried, down to the messages at fault. */
  async function sendApart(messages: readonly Message[]): Promise<(string | null)[]> {
    try {
      return await send(messages);
    } catch (error) {
      if (!(error instanceof QstashError) || !REFUSALS.has(error.status ?? 0)) throw error;
      if (messages.length === 1) return [error.message];
      const middle = messages.length >> 1;
      return [...(await sendApart(messages.slice(0, middle))), ...(await sendApart(messages.slice(middle)))];
    }
  }

  return {
    async publish(messages) {
      const known = messages.filter(({ consumer }) => deliveries.has(consumer));
      const publication: Publication = {
        taken: [],
        kept: [],
        refused: messages
          .filter(({ consumer }) => !deliveries.has(consumer))
          .map((message) => ({ message, reason: "there is no such consumer" })),
        failure: null,
      };
      for (const batch of batches(known)) {
        try {
          const reasons = await sendApart(batch);
          for (const [index, message] of batch.entries()) {
            const reason = reasons[index] ?? null;
            if (reason !== null) publication.refused.push({ message, reason });
            else if (deliveries.get(message.consumer)?.untilDone) publication.kept.push(message);
            else publication.taken.push(message);
          }
        } catch (error) {
          publication.failure = error instanceof Error ? error : new Error(String(error));
          break;
        }
      }
      return publication;
    },
  };
}

/** The messages in order, in batches that one request can carry. A message that is too large for that is on its own. */
function* batches(messages: readonly Message[]): Generator<Message[]> {
  let batch: Message[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = HEADER_BYTES + Buffer.byteLength(JSON.stringify(JSON.stringify(message.body)));
    if (batch.length === BATCH_MESSAGES || (batch.length > 0 && bytes + size > BATCH_BYTES)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(message);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

function toRequest(env: Env, deliveries: ReadonlyMap<string, Delivery>, message: Message) {
  const delivery = deliveries.get(message.consumer);
  if (delivery === undefined) throw new Error(`no consumer ${message.consumer}`);
  const { parallelism, retries, retryDelay, timeoutSeconds } = delivery;
  return {
    url: `${env.BASE_URL}/queues/${message.consumer}`,
    body: message.body,
    deduplicationId: `${message.consumer}.${message.id}.${message.generation}`,
    retries,
    ...(retryDelay === undefined ? {} : { retryDelay }),
    timeout: timeoutSeconds,
    failureCallback: `${env.BASE_URL}/queues/dead`,
    ...(parallelism === null ? {} : { flowControl: { key: message.flow_key ?? message.consumer, parallelism } }),
    ...(message.not_before !== null ? { notBefore: Math.ceil(Date.parse(message.not_before) / 1000) } : {}),
  };
}

/** Rejects after so long, since the client takes no signal. The outbox rows of a publication that is given up remain. */
function expiry(ms: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    AbortSignal.timeout(ms).addEventListener("abort", () => reject(new Error("QStash did not answer in time")));
  });
}
