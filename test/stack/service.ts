import { randomUUID } from "node:crypto";
import { inject } from "vitest";
import { type Application, createApplication } from "../../functions/app.ts";
import type { Overrides } from "../../functions/service.ts";
import { ownAnswers } from "./answers.ts";
import { type Broker, startBroker } from "./broker/broker.ts";
import { type Counters, createCounters } from "./counters.ts";
import { type DnsResolver, startDnsResolver } from "./dns.ts";
import { committedEpochs } from "./epochs.ts";
import { createFaults, type Faults } from "./faults.ts";
import { listen } from "./http.ts";
import type { QStashPlan } from "./limits.ts";
import { createMailbox, type Mailbox } from "./mailbox.ts";
import { startNeonFront } from "./neon/front.ts";
import { openClient, openPool } from "./neon/connections.ts";
import { startRedisFront } from "./redis/front.ts";
import { type Resend, startResend } from "./resend.ts";
import { DAILY_URL_END } from "./schedule.ts";
import { DEVELOPMENT, newSecrets, type Settings } from "./settings.ts";
import { startStripe, type StripeFake } from "./stripe/stripe.ts";
import { meterSubrequests, type SubrequestMeter } from "./subrequests.ts";
import { TEMPLATE, TEST_ENCRYPTION_KEY } from "./vitest-setup.ts";

/** The service in this process, on a database of its own, behind the real fronts. */
export interface TestService {
  url: string;
  settings: Settings;
  /** What is scheduled ends when its work is done, that of the daily trigger's messages too. */
  app: Application;
  /** What each request, delivery and trigger sends, and the most that it may. */
  subrequests: SubrequestMeter;
  broker: Broker;
  counters: Counters;
  faults: Faults;
  mailbox: Mailbox;
  resend: Resend;
  /** The resolver that the service asks, unless `overrides` give another; it knows no name until it is given some. */
  dns: DnsResolver;
  /** The payment provider; throws where the service was started without one. */
  readonly stripe: StripeFake;
  logs: string[];
  /** Runs SQL beside the service: to look at what it keeps, and to arrange what no caller can. */
  sql<T extends object = Record<string, unknown>>(text: string, params?: unknown[]): Promise<T[]>;
  /** Waits until no request, no deferred work and no due message is left. */
  settled(): Promise<void>;
  /** Ends all of it; throws with each answer that was not as the OpenAPI document says. */
  stop(): Promise<void>;
}

const MAIL_KEY = "re_test";

/** Next to nothing: real hashes of hundreds of accounts would take most of the suite's time. */
const TEST_PASSWORD_COST = { N: 2 ** 4, r: 8, p: 1 };

/**
 * Starts a service for one test file; with `stripe`, a payment provider beside it. The clock of both is `overrides.now`,
 * else the machine's. The log has committed to the epochs of two months, unless `epochs` is false. `plan` is QStash's, and
 * `host` the name that the service goes by in place of its address, since some things a browser does for names alone. Passwords are hashed at TEST_PASSWORD_COST, or as `overrides.passwordCost` says.
 * The mail service takes `mailsPerSecond`, else any number: tests that are about something else would wait for most of them.
 */
export async function startService(
  options: {
    settings?: Settings;
    overrides?: Overrides;
    stripe?: boolean;
    plan?: QStashPlan;
    epochs?: boolean;
    host?: string;
    mailsPerSecond?: number;
  } = {},
): Promise<TestService> {
  const server = `postgres://postgres:postgres@127.0.0.1:${inject("postgresPort")}`;
  const database = `test_${randomUUID().replaceAll("-", "")}`;
  // Copied as files: by way of the log, page by page, takes four times as long.
  await admin(server, `create database ${database} template ${TEMPLATE} strategy file_copy`);
  const faults = createFaults();
  const counters = createCounters();
  const neon = await startNeonFront({ resolve: (name) => `${server}/${name}`, faults, counters });
  const secrets: Settings = { ...(await newSecrets()), DATA_ENCRYPTION_KEY: TEST_ENCRYPTION_KEY };
  const redis = await startRedisFront({ faults, counters, token: secrets["UPSTASH_REDIS_REST_TOKEN"] });
  const broker = await startBroker({
    token: secrets["QSTASH_TOKEN"] ?? "",
    currentSigningKey: secrets["QSTASH_CURRENT_SIGNING_KEY"] ?? "",
    nextSigningKey: secrets["QSTASH_NEXT_SIGNING_KEY"] ?? "",
    plan: options.plan,
    faults,
    counters,
  });
  const mailbox = createMailbox();
  const resend = await startResend({ mailbox, key: MAIL_KEY, faults, perSecond: options.mailsPerSecond ?? Infinity });
  const dns = await startDnsResolver({ faults });
  const now = options.overrides?.now;
  const stripe =
    options.stripe === true
      ? await startStripe({
          faults,
          webhookUrl: () => `${http.url}/api/v1/payment-provider/webhook`,
          ...(now === undefined ? {} : { now: () => now().getTime() }),
        })
      : undefined;
  let app: Application | undefined;
  const pending = new Set<Promise<unknown>>();
  const execution = {
    waitUntil(work: Promise<unknown>) {
      const done = work.catch(() => undefined).finally(() => pending.delete(done));
      pending.add(done);
    },
    passThroughOnException: () => undefined,
    props: {},
  };
  const subrequests = meterSubrequests();
  const check = ownAnswers();
  const violations = new Set<string>();
  const http = await listen(async ({ method, url, headers, body }) => {
    const request = new Request(new URL(url.pathname + url.search, settings["BASE_URL"]), {
      method,
      headers: Object.entries(headers).flatMap(([name, value]) =>
        value === undefined ? [] : [value].flat().map((one) => [name, one] as [string, string]),
      ),
      body: method === "GET" || method === "HEAD" ? null : new Uint8Array(body),
    });
    const response = await subrequests.invoke(`${method} ${url.pathname}`, () =>
      (app as Application).fetch(request, {}, execution),
    );
    const cookies = response.headers.getSetCookie();
    const answer = Object.fromEntries([...response.headers].filter(([name]) => name !== "set-cookie"));
    const given = { status: response.status, headers: answer, body: Buffer.from(await response.arrayBuffer()) };
    const violation = check(method, url.pathname, given);
    if (violation !== null) violations.add(violation);
    return cookies.length === 0
      ? given
      : { ...given, headers: { ...answer, "set-cookie": cookies as unknown as string } };
  });
  const url = http.url.replace("127.0.0.1", options.host ?? "127.0.0.1");
  const settings: Settings = {
    ...DEVELOPMENT,
    ENVIRONMENT: "test",
    ...secrets,
    BASE_URL: url,
    FRONTEND_URL: url,
    DATABASE_URL: `postgres://test:test@database.localtest/${database}`,
    NEON_LOCAL_PROXY: neon.url,
    UPSTASH_REDIS_REST_URL: redis.url,
    QSTASH_URL: broker.url,
    RESEND_API_BASE: resend.url,
    RESEND_API_KEY: MAIL_KEY,
    DNS_RESOLVER_URL: dns.url,
    ...stripe?.settings,
    ...options.settings,
  };
  const logs: string[] = [];
  const { fetch, scheduled } = createApplication(settings, {
    log: (line) => void logs.push(line),
    passwordCost: TEST_PASSWORD_COST,
    ...options.overrides,
  });
  app = {
    fetch,
    async scheduled(cron) {
      await subrequests.invoke(cron, () => scheduled(cron));
      await broker.idle(DAILY_URL_END);
    },
  };
  const { pool, close: closePool } = openPool({ connectionString: `${server}/${database}`, max: 4 });
  if (options.epochs !== false) await pool.query(...committedEpochs(settings, now?.() ?? new Date()));
  return {
    url,
    settings,
    app,
    subrequests,
    broker,
    counters,
    faults,
    mailbox,
    resend,
    dns,
    get stripe() {
      if (stripe === undefined) throw new Error("started without a payment provider: startService({ stripe: true })");
      return stripe;
    },
    logs,
    async sql<T extends object>(text: string, params: unknown[] = []) {
      return (await pool.query(text, params)).rows as T[];
    },
    async settled() {
      do {
        await Promise.all(pending);
        await broker.idle();
      } while (pending.size > 0);
    },
    async stop() {
      await broker.stop();
      await Promise.all(pending);
      await http.close();
      await resend.close();
      await dns.stop();
      await stripe?.close();
      await closePool();
      await neon.close();
      await redis.close();
      await admin(server, `drop database if exists ${database} with (force)`);
      if (violations.size > 0) throw new Error(`not as the OpenAPI document says:\n${[...violations].join("\n")}`);
    },
  };
}

async function admin(server: string, statement: string): Promise<void> {
  const client = await openClient(`${server}/postgres`);
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
