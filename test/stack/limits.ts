/**
 * What the platforms that the service runs on allow, each number with where its vendor says so. The local stack refuses
 * what they refuse. Sizes are in bytes; a vendor's MB is a million, its KB a thousand: the smaller reading.
 */

const MB = 1_000_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const UNLIMITED = Number.POSITIVE_INFINITY;

/** A plan of QStash. */
export type QStashPlan = "free" | "pay_as_you_go" | "fixed_1m" | "fixed_10m";

/** What a plan of QStash allows. */
export interface QStashLimits {
  /** The body of one message. https://upstash.com/pricing/qstash.md, "Max message size" */
  readonly messageBytes: number;
  /** Messages that are taken in one day (UTC). https://upstash.com/pricing/qstash.md, "Messages/day" */
  readonly messagesPerDay: number;
  /** The highest `Upstash-Retries`. https://upstash.com/docs/qstash/overall/pricing, "Max Retry Count" */
  readonly retries: number;
  /** How far ahead a delivery may lie. https://upstash.com/pricing/qstash.md, "Max delay" */
  readonly delayMs: number;
  /** When a delivery without an answer is given up. https://upstash.com/pricing/qstash.md, "Max HTTP response duration" */
  readonly responseMs: number;
  /** Deliveries under way at once, of all keys together. https://upstash.com/pricing/qstash.md, "Parallelism" */
  readonly parallelism: number;
}

/**
 * QStash by plan. Where the price list leaves a field of the fixed plans to be agreed on, it is that of the account shown
 * at https://upstash.com/docs/api-reference/qstash/get-qstash (`max_retries`, `timeout`). Publishing has no limit a second:
 * https://upstash.com/docs/qstash/api/api-ratelimiting
 */
export const QSTASH: Readonly<Record<QStashPlan, QStashLimits>> = {
  free: {
    messageBytes: MB,
    messagesPerDay: 1_000,
    retries: 3,
    delayMs: 7 * DAY_MS,
    responseMs: 15 * MINUTE_MS,
    parallelism: 10,
  },
  pay_as_you_go: {
    messageBytes: 10 * MB,
    messagesPerDay: UNLIMITED,
    retries: 5,
    delayMs: 365 * DAY_MS,
    responseMs: 120 * MINUTE_MS,
    parallelism: 100,
  },
  fixed_1m: {
    messageBytes: 50 * MB,
    messagesPerDay: 1_000_000,
    retries: 20,
    delayMs: UNLIMITED,
    responseMs: 360 * MINUTE_MS,
    parallelism: 200,
  },
  fixed_10m: {
    messageBytes: 50 * MB,
    messagesPerDay: 10_000_000,
    retries: 20,
    delayMs: UNLIMITED,
    responseMs: 360 * MINUTE_MS,
    parallelism: 1_000,
  },
};

/**
 * Messages of one batch. QStash documents none (https://upstash.com/docs/qstash/features/batch); this is what the service
 * keeps to, so that no request grows with what is to be sent.
 */
export const QSTASH_BATCH_MESSAGES = 100;

/** Neon's SQL over HTTP. */
export const NEON = {
  /** One request. https://neon.com/docs/serverless/serverless-driver, "maximum request size" */
  requestBytes: 10 * MB,
  /**
   * One answer, all its rows. https://neon.com/docs/changelog/2023-08-16, "Larger response sizes". Neon names no size of a
   * row: what bounds one is the request or the answer that it is in, far below PostgreSQL's 1 GB of a field.
   */
  responseBytes: 10 * MB,
  /**
   * What a connection goes through between two requests, as far as the service could come to rely on it: no setting and no
   * prepared statement lasts. Plans of functions do. https://github.com/neondatabase/neon/pull/12681
   */
  reset: "reset all; deallocate all",
} as const;

/** Upstash Redis, free and pay as you go. */
export const REDIS = {
  /** One request. https://upstash.com/docs/redis/troubleshooting/max_request_size_exceeded */
  requestBytes: 10 * MB,
  /** One key. https://upstash.com/docs/redis/troubleshooting/max_key_size_exceeded */
  keyBytes: 32_000,
} as const;

/** Resend, unless it agreed on more. https://resend.com/docs/api-reference/rate-limit, "Rate Limits" */
export const RESEND = { requestsPerSecond: 5 } as const;

/** Workers, on the paid plan. https://developers.cloudflare.com/workers/platform/limits/ */
export const WORKERS = {
  /** One setting, secret or not: "Environment variable size". */
  settingBytes: 5_000,
  /** "Environment variables" of a Worker. */
  settings: 128,
  /** "Memory" of an isolate, in MiB. Where the platform ends the isolate, workerd ends itself and says why. */
  memoryMib: 128,
  /** What an invocation may send, by plan: "Subrequests". A paid plan may set its own, and each redirect that is followed counts. */
  subrequests: { free: 50, paid: 10_000 },
  /**
   * How many of those may wait for the headers of their answers at once; the next one waits for its turn: "Simultaneous open
   * connections", as it is since https://developers.cloudflare.com/changelog/2026-04-09-relaxed-connection-limiting
   */
  connections: 6,
  /**
   * "CPU time" of an invocation, unless `cpu_ms` says otherwise: https://developers.cloudflare.com/changelog/2025-03-25-higher-cpu-limits/
   * The one limit that is not held to here: neither workerd, as npm brings it, nor Node tells what an invocation has used.
   */
  cpuMs: 30_000,
} as const;

/** The plan that `QSTASH_PLAN` names; pay as you go, if it names none. @throws for a name that is no plan's. */
export function qstashPlan(name = "pay_as_you_go"): QStashPlan {
  if (!Object.hasOwn(QSTASH, name)) {
    throw new Error(`QSTASH_PLAN must be one of ${Object.keys(QSTASH).join(", ")}: ${name}`);
  }
  return name as QStashPlan;
}
