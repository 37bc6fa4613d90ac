import { Redis } from "@upstash/redis/cloudflare";
import { PASSWORD_COST } from "../shared/identity/passwords/cost.ts";
import { createDatabase, describeError } from "../shared/db/client.ts";
import type { Service } from "../shared/http/app.ts";
import { addressHasher } from "../shared/http/address.ts";
import { createAnswerCache } from "../shared/http/cache.ts";
import type { Context, Database, PasswordCost } from "../shared/platform/context.ts";
import { type Env, parseEnv } from "../shared/platform/env.ts";
import type { SigningKeys } from "../shared/platform/keys.ts";
import { createGathering } from "../shared/platform/gathering.ts";
import { createLeases, type Leases } from "../shared/platform/leases.ts";
import { createLogger } from "../shared/platform/log.ts";
import { waningPatience } from "../shared/platform/patience.ts";
import type { DnsResolver } from "../shared/platform/outbound/resolve.ts";
import { createStreams } from "../shared/platform/streams.ts";
import { createTabs, type Tabs } from "../shared/platform/tabs.ts";
import { createTurns } from "../shared/platform/turns.ts";
import { createSteps, type Steps } from "../shared/platform/steps.ts";
import type { Message, Publisher } from "../shared/platform/message.ts";
import { LIMITS } from "../shared/runs/limits.ts";
import type { Delivery } from "../shared/queue/publish.ts";

/** What a test may put in place of the outside world. */
export interface Overrides {
  now?: () => Date;
  fetch?: typeof fetch;
  resolver?: DnsResolver;
  /** How long the resolver is waited for, in milliseconds. */
  dnsTimeoutMs?: number;
  log?: (line: string) => void;
  /** Hashes that cost nothing, where what is tested is not the hash. */
  passwordCost?: PasswordCost | undefined;
}

/**
 * Redis that does not answer within this time counts as down; what else a request asks of it then has the second time, a
 * part of which it needs, so that nobody waits for more than a second. Work behind a request has the first each time.
 */
const REDIS_TIMEOUT_MS = 700;
const REDIS_AGAIN_MS = 140;
const DNS_TIMEOUT_MS = 3000;

/**
 * Runs that an isolate carries out at once: so few that an answer is read when it comes, and what the agent is timed by is
 * not the isolate's own queue, and just as many as keep it busy with agents that answer at once. A run that takes longer than
 * a quarter of a second no longer counts: there a few milliseconds are nothing, and slow agents must not keep the fast ones
 * waiting.
 */
export const CALLS = { places: 8, holdMs: 250 };
/** How many runs are scored at once; no group takes as long as its place is held. */
const SCORING = { most: 16, holdMs: 15_000 };
/** How long a group waits for the runs that are being carried out; one that is alone does not wait. */
export const LINGER_MS = 20;

/**
 * Puts the service together from its settings: once for an isolate. Throws with the list of all that is wrong with them.
 * `deliveries` says how each consumer of the queue wants its messages sent.
 */
export function createService(
  raw: Record<string, unknown>,
  deliveries: ReadonlyMap<string, Delivery>,
  overrides: Overrides = {},
): Service & { env: Env; leases: Leases; tabs: Tabs; now: () => Date } {
  const env = parseEnv(raw);
  const now = overrides.now ?? (() => new Date());
  const call = overrides.fetch ?? ((input, init) => fetch(input, init));
  const calls = createTurns(CALLS);
  const steps = createSteps();
  // Of one agent's runs so few are carried out at once that nobody waits for them, and a turn takes a millisecond.
  const amongOthers: Steps = { next: async () => (calls.taken() > LIMITS.concurrency ? steps.next() : undefined) };
  const databaseOf = (inSteps?: Steps) => createDatabase(env.DATABASE_URL, env.NEON_LOCAL_PROXY, inSteps);
  const db = databaseOf();
  let dbInSteps: Database | undefined;
  // The clients of the queue and of the DNS, and the keys, are loaded when they are first needed: most requests need none.
  let publisher: Publisher | undefined;
  const queue: Publisher = {
    async publish(messages) {
      const { createPublisher } = await import("../shared/queue/publish.ts");
      publisher ??= createPublisher(env, deliveries);
      return publisher.publish(messages);
    },
  };
  const resolver: DnsResolver = overrides.resolver ?? {
    async query(...question) {
      const { dohResolver } = await import("../shared/platform/outbound/resolve.ts");
      const timeoutMs = overrides.dnsTimeoutMs ?? DNS_TIMEOUT_MS;
      return dohResolver({ url: env.DNS_RESOLVER_URL, fetch: call, timeoutMs }).query(...question);
    },
  };
  const logger = createLogger(overrides.log ?? ((line) => console.log(line)), now);
  const cache = createAnswerCache();
  const leases = createLeases();
  const tabs = createTabs();
  const streams = createStreams();
  const scoring = createGathering<Message>({ ...SCORING, linger: () => (calls.taken() > 0 ? LINGER_MS : 0) });
  const connect = (isBackground: boolean): Redis => {
    const within = waningPatience(REDIS_TIMEOUT_MS, isBackground ? REDIS_TIMEOUT_MS : REDIS_AGAIN_MS);
    let limit = AbortSignal.abort();
    const redis = new Redis({
      url: env.UPSTASH_REDIS_REST_URL,
      token: env.UPSTASH_REDIS_REST_TOKEN,
      retry: false,
      enableTelemetry: false,
      // A signal of the request itself would make an answer of its being aborted; this one is asked for as it is sent.
      signal: () => limit,
    });
    redis.use((request, send) =>
      within((signal) => {
        limit = signal;
        return send(request);
      }),
    );
    return redis;
  };
  // It describes every endpoint, so the endpoint that serves it can't import it.
  const openApi = async (): Promise<string> => {
    const { ADDRESS, DOCUMENT } = await import("./openapi-document.static.ts");
    return DOCUMENT.replaceAll(ADDRESS, () => env.BASE_URL);
  };
  let keys: Promise<SigningKeys> | undefined;
  const loadKeys = async (): Promise<SigningKeys> => {
    const { loadSigningKeys } = await import("../shared/platform/keys.ts");
    return loadSigningKeys(env.SIGNING_KEYS);
  };
  return {
    env,
    cache,
    leases,
    tabs,
    now,
    addressHashes: addressHasher(env, now),
    context(request) {
      let redis: Redis | undefined;
      const log = logger.with({ request_id: request.requestId });
      const ctx: Context = {
        env,
        db: request.isBackground === true ? (dbInSteps ??= databaseOf(amongOthers)) : db,
        queue,
        // A client for each request that needs one: workerd does not let one request wait for another's pipeline.
        get redis() {
          return (redis ??= connect(request.isBackground === true));
        },
        leases,
        streams,
        calls,
        scoring,
        steps,
        keys: () => (keys ??= loadKeys()),
        now,
        admissionMs: 0,
        requestId: request.requestId,
        addressHash: request.addressHash,
        addressHashBefore: request.addressHashBefore ?? null,
        network: request.network ?? null,
        idempotency: null,
        question: null,
        openApi,
        passwordCost: overrides.passwordCost ?? PASSWORD_COST,
        log,
        cache,
        defer: (work) =>
          request.defer(() =>
            work().catch((error: unknown) => {
              log.warn("deferred work failed", { detail: describeError(error) });
            }),
          ),
        fetch: call,
        resolver,
      };
      return ctx;
    },
  };
}
