import { Client } from "@upstash/qstash";
import { type Broker, type BrokerOptions, startBroker } from "./broker.ts";
import { createCounters, type Counters } from "../counters.ts";
import { createFaults, type Faults } from "../faults.ts";
import { CUT, type Handler, listen, type Request } from "../http.ts";

/** The credentials of a broker under test. */
export const KEYS = { token: "test-token", currentSigningKey: "sig_current", nextSigningKey: "sig_next" } as const;

/** A destination that notes what it gets. It answers 200 unless `answer` is replaced. */
export interface Consumer {
  readonly url: string;
  readonly seen: Request[];
  answer: Handler;
  /** The bodies of what was seen, parsed. */
  bodies(): unknown[];
  /** Resolves once so many requests have come in all. */
  count(requests: number): Promise<void>;
  stop(): Promise<void>;
}

/** A broker with a consumer, the vendor's client, and a clock that stands still but for virtual time. */
export interface Harness {
  readonly broker: Broker;
  readonly client: Client;
  readonly consumer: Consumer;
  readonly faults: Faults;
  readonly counters: Counters;
  stop(): Promise<void>;
}

/** Noon UTC of a day without any change of daylight time. */
export const START = Date.UTC(2026, 0, 15, 12);

/** Starts a consumer on a free port. */
export async function startConsumer(): Promise<Consumer> {
  const seen: Request[] = [];
  let waiting: { requests: number; resolve: () => void }[] = [];
  const server = await listen((request) => {
    seen.push(request);
    for (const { requests, resolve } of waiting) if (seen.length >= requests) resolve();
    waiting = waiting.filter(({ requests }) => seen.length < requests);
    return consumer.answer(request);
  });
  const consumer: Consumer = {
    url: `${server.url}/consume`,
    seen,
    answer: () => ({ status: 200 }),
    bodies: () => seen.map(({ body }) => JSON.parse(body.toString()) as unknown),
    count: (requests) =>
      new Promise((resolve) => {
        if (seen.length >= requests) resolve();
        else waiting.push({ requests, resolve });
      }),
    stop: () => server.close(),
  };
  return consumer;
}

/** The vendor's client for a broker; it does not repeat calls that fail. */
export function clientOf(url: string, token: string = KEYS.token): Client {
  return new Client({ baseUrl: url, token, devMode: false, retry: false, enableTelemetry: false });
}

/** Starts a harness; `options` go to the broker. */
export async function startHarness(options: Partial<BrokerOptions> = {}): Promise<Harness> {
  const faults = createFaults();
  const counters = createCounters();
  const broker = await startBroker({ ...KEYS, faults, counters, now: () => START, ...options });
  const consumer = await startConsumer();
  return {
    broker,
    client: clientOf(broker.url),
    consumer,
    faults,
    counters,
    async stop() {
      await broker.stop();
      await consumer.stop();
    },
  };
}

/** Answers that hold until the caller goes away. */
export const hold: Handler = ({ gone }) =>
  new Promise((resolve) => gone.addEventListener("abort", () => resolve(CUT), { once: true }));
