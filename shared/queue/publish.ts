import { Client } from "@upstash/qstash";
import type { Env } from "../platform/env.ts";

/** One message: the outbox row it stands for. */
export interface Message {
  consumer: string;
  id: string;
  generation: number;
  body: unknown;
  flow_key: string | null;
  /** ISO time before which it is not delivered. */
  not_before: string | null;
}

/** How a consumer wants its messages sent. */
export interface Delivery {
  retries: number;
  timeoutSeconds: number;
  parallelism: number | null;
}

/** Hands messages to QStash. */
export interface Publisher {
  /** One request for all of them; throws when QStash did not take them. */
  publish(messages: readonly Message[]): Promise<void>;
}

const PUBLISH_TIMEOUT_MS = 10_000;

/** The publisher for these settings; `deliveries` says how each consumer wants its messages. */
export function createPublisher(env: Env, deliveries: ReadonlyMap<string, Delivery>): Publisher {
  const client = new Client({
    baseUrl: env.QSTASH_URL,
    token: env.QSTASH_TOKEN,
    devMode: false,
    retry: false,
    enableTelemetry: false,
  });
  return {
    async publish(messages) {
      if (messages.length === 0) return;
      const batch = client.batchJSON(messages.map((message) => toRequest(env, deliveries, message)));
      await Promise.race([batch, expiry(PUBLISH_TIMEOUT_MS)]);
    },
  };
}

function toRequest(env: Env, deliveries: ReadonlyMap<string, Delivery>, message: Message) {
  const delivery = deliveries.get(message.consumer);
  if (delivery === undefined) throw new Error(`no consumer ${message.consumer}`);
  const { parallelism, retries, timeoutSeconds } = delivery;
  return {
    url: `${env.BASE_URL}/queues/${message.consumer}`,
    body: message.body,
    deduplicationId: `${message.consumer}.${message.id}.${message.generation}`,
    retries,
    timeout: timeoutSeconds,
    failureCallback: `${env.BASE_URL}/queues/dead`,
    ...(message.flow_key !== null && parallelism !== null
      ? { flowControl: { key: message.flow_key, parallelism } }
      : {}),
    ...(message.not_before !== null ? { notBefore: Math.ceil(Date.parse(message.not_before) / 1000) } : {}),
  };
}

/** The client takes no signal; an outbox row outlives a publication that is given up here. */
function expiry(ms: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    AbortSignal.timeout(ms).addEventListener("abort", () => reject(new Error("QStash did not answer in time")));
  });
}
