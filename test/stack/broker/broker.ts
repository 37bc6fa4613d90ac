import { createApi } from "./api.ts";
import type { Chaos } from "./backlog.ts";
import { createSender } from "./delivery.ts";
import { createEngine, type Stats } from "./engine.ts";
import { openDailyQuota } from "./limits.ts";
import { createLog } from "./log.ts";
import { openSchedules } from "./schedules.ts";
import { openStore } from "./store.ts";
import type { Counters } from "../counters.ts";
import type { Faults } from "../faults.ts";
import { listen } from "../http.ts";
import { QSTASH, qstashPlan, type QStashPlan } from "../limits.ts";

/** How a broker is started. Without a port a free one is taken; without a file nothing outlives the process. */
export interface BrokerOptions {
  readonly port?: number;
  /** The SQLite file that keeps messages, dead letters, queues, schedules and virtual time. */
  readonly dbFile?: string;
  /** What clients send as `Authorization: Bearer`. */
  readonly token: string;
  readonly currentSigningKey: string;
  readonly nextSigningKey: string;
  /** Whose limits apply; pay as you go when not given. */
  readonly plan?: QStashPlan | undefined;
  readonly faults: Faults;
  readonly counters: Counters;
  /** The clock in Unix ms, to which virtual time adds; signatures go by the wall clock. */
  readonly now?: () => number;
}

/** A running broker. */
export interface Broker {
  readonly url: string;
  /** Frees the port and cuts what is in flight; with a file that is delivered again after the next start. */
  stop(): Promise<void>;
  stats(): Stats;
  /** Resolves when nothing is in flight and nothing is due that limits let pass, of messages to URLs that end so. */
  idle(urlEnd?: string): Promise<void>;
  /** Adds virtual time step by step, delivering all that falls due on the way, with its consequences. */
  advance(ms: number): Promise<void>;
  /** Makes each delivery twice, or takes messages in random order; what is not named stays as it is. */
  setChaos(change: Partial<Chaos>): void;
}

/**
 * A message broker that speaks QStash's v2 API and delivers to loopback addresses. Time passes by itself. The fault
 * service `qstash` applies to the API, not to deliveries.
 * @throws the listen error, such as `EADDRINUSE`.
 */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const { token, faults, counters, now = Date.now } = options;
  const plan = QSTASH[qstashPlan(options.plan)];
  const store = openStore(options.dbFile ?? ":memory:");
  const sender = createSender(() => options.currentSigningKey);
  const schedules = openSchedules(store);
  const log = createLog();
  const engine = createEngine({ store, sender, ticker: schedules, now, log: log.add, maxInFlight: plan.parallelism });
  const api = createApi({
    engine,
    schedules,
    log,
    token,
    plan,
    quota: openDailyQuota(store, plan),
    signingKeys: { current: options.currentSigningKey, next: options.nextSigningKey },
    onPublished: (messages) => {
      counters.qstash.messages += messages;
    },
  });
  const faulty = faults.around("qstash", api);

  const end = (): void => {
    engine.stop();
    sender.close();
    store.close();
  };
  const server = await listen((request) => {
    counters.qstash.requests += 1;
    return faulty(request);
  }, options.port).catch((error: unknown) => {
    end();
    throw error;
  });
  return {
    url: server.url,
    stats: () => engine.stats(),
    idle: (urlEnd) => engine.idle(urlEnd),
    advance: (ms) => engine.advance(ms),
    setChaos: (change) => engine.setChaos(change),
    async stop() {
      await server.close();
      end();
    },
  };
}
