import { rmSync } from "node:fs";
import { join } from "node:path";
import { migrate } from "../../migrations/migrate.ts";
import { seed } from "../../migrations/seed.ts";
import { parseKeyring } from "../../shared/platform/encryption.ts";
import { parseEnv } from "../../shared/platform/env.ts";
import { startBroker } from "./broker/broker.ts";
import { startConsole } from "./console/console.ts";
import { createCounters } from "./counters.ts";
import { startDnsResolver } from "./dns.ts";
import { createFaults } from "./faults.ts";
import { qstashPlan, RESEND } from "./limits.ts";
import { createMailbox } from "./mailbox.ts";
import { startNeonFront } from "./neon/front.ts";
import { endFormer, startPostgres } from "./neon/postgres.ts";
import { untilFree } from "./ports.ts";
import { startRedisFront } from "./redis/front.ts";
import { startResend } from "./resend.ts";
import { crons, DAILY_URL_END } from "./schedule.ts";
import { DEVELOPMENT, developerSettings, keptSecrets, type Settings } from "./settings.ts";
import { createWorkerLog } from "./worker/log.ts";
import { startWorker } from "./worker/worker.ts";

/** How a stack is started. */
export interface StackOptions {
  /** Where the service listens; 8787 when not given. */
  port?: number | undefined;
  /** Where the console listens; the service's port + 1 when not given. */
  consolePort?: number | undefined;
  /** Where data are kept. */
  dir: string;
  /** Empties `dir` first. */
  fresh?: boolean | undefined;
  /** How often a port that is taken is looked at; for ten seconds when not given. */
  waits?: number | undefined;
  /** Settings on top of the developer's. */
  settings?: Settings | undefined;
  /** Told what is being started. */
  progress?: ((step: string) => void) | undefined;
}

/** A running stack. */
export interface Stack {
  url: string;
  consoleUrl: string;
  databaseUrl: string;
  settings: Settings;
  /** Does the work of a minute now. */
  minute(): Promise<void>;
  stop(): Promise<void>;
}

const DATABASE = "screening";
const MAIL_KEY = "re_local";
const EVERY_MINUTE = "* * * * *";
/** Triggers until an epoch is made, in the log, and noted to be there; the rest is for a machine that is slow. */
const COMMITTING = 10;

/**
 * Starts the whole service on this machine: PostgreSQL, Redis, the queue's broker, a DNS resolver, and the Worker in
 * workerd; migrates and seeds. What was started is stopped again when a part fails.
 * @throws before anything else when another program listens where the service or the console shall, or another
 * stack works on the same data.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { dir, port = 8787, consolePort = port + 1, progress = () => undefined } = options;
  // Before anything is emptied or started: a stack that still runs here keeps its data, and the reason is told at once.
  await untilFree(port, "PORT", options.waits);
  await untilFree(consolePort, "CONSOLE_PORT", options.waits);
  if (options.fresh === true) {
    await endFormer(join(dir, "postgres"));
    rmSync(dir, { recursive: true, force: true });
  }
  const developer = developerSettings();
  const secrets = await keptSecrets(dir);
  const parts: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const part of parts.splice(0).toReversed()) await part();
  };
  try {
    const faults = createFaults();
    const counters = createCounters();
    progress("PostgreSQL");
    const databaseUrl = developer.databaseUrl ?? (await database(dir, parts));
    progress("migrations and catalogue");
    await migrate(databaseUrl);
    await seed(databaseUrl, parseKeyring({ ...secrets, ...developer.settings, ...options.settings }));
    progress("Redis, queue, resolver and mail");
    const neon = await startNeonFront({ resolve: () => databaseUrl, faults, counters });
    parts.push(neon.close);
    const redis = await startRedisFront({
      faults,
      counters,
      redisUrl: developer.redisUrl,
      token: secrets["UPSTASH_REDIS_REST_TOKEN"],
    });
    parts.push(redis.close);
    const dns = await startDnsResolver({ faults });
    parts.push(dns.stop);
    const broker = await startBroker({
      dbFile: join(dir, "queue.sqlite"),
      token: secrets["QSTASH_TOKEN"] ?? "",
      currentSigningKey: secrets["QSTASH_CURRENT_SIGNING_KEY"] ?? "",
      nextSigningKey: secrets["QSTASH_NEXT_SIGNING_KEY"] ?? "",
      plan: qstashPlan(developer.qstashPlan),
      faults,
      counters,
    });
    parts.push(broker.stop);
    const mailbox = createMailbox();
    const resend = await startResend({ mailbox, key: MAIL_KEY, faults, perSecond: RESEND.requestsPerSecond });
    parts.push(resend.close);
    const url = `http://127.0.0.1:${port}`;
    const settings: Settings = {
      ...DEVELOPMENT,
      ...secrets,
      BASE_URL: url,
      FRONTEND_URL: url,
      DATABASE_URL: `postgres://stack:stack@database.localtest/${DATABASE}`,
      NEON_LOCAL_PROXY: neon.url,
      UPSTASH_REDIS_REST_URL: redis.url,
      QSTASH_URL: broker.url,
      DNS_RESOLVER_URL: dns.url,
      // With a key of the developer's own, mails go out for real.
      ...(developer.settings["RESEND_API_KEY"] === undefined
        ? { RESEND_API_BASE: resend.url, RESEND_API_KEY: MAIL_KEY }
        : {}),
      ...developer.settings,
      ...options.settings,
    };
    parseEnv(settings);
    progress("the Worker");
    const log = createWorkerLog();
    const worker = await startWorker(settings, port, { log });
    parts.push(worker.stop);
    progress("the epochs");
    await commitEpochs(url, () => worker.scheduled(EVERY_MINUTE));
    const ticking = setInterval(() => void worker.scheduled(EVERY_MINUTE).catch(() => undefined), 60_000);
    parts.push(() => Promise.resolve(clearInterval(ticking)));
    const console = await startConsole(
      {
        service: url,
        broker,
        counters,
        faults,
        mailbox,
        log,
        async cron(expression) {
          for (const cron of expression === undefined ? crons() : [expression]) await worker.scheduled(cron);
          await broker.idle(DAILY_URL_END);
        },
      },
      consolePort,
    );
    parts.push(console.close);
    const minute = () => worker.scheduled(EVERY_MINUTE);
    return { url, consoleUrl: console.url, databaseUrl, settings, minute, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function database(dir: string, parts: (() => Promise<void>)[]): Promise<string> {
  const postgres = await startPostgres({ dir: join(dir, "postgres") });
  parts.push(postgres.stop);
  await postgres.createDatabase(DATABASE).catch((error: unknown) => {
    if ((error as { code?: string }).code !== "42P04") throw error;
  });
  return postgres.url(DATABASE);
}

/** Does the work of some minutes at once, so that runs can be minted as soon as the stack is there. */
async function commitEpochs(url: string, minute: () => Promise<unknown>): Promise<void> {
  for (let trigger = 0; trigger < COMMITTING; trigger += 1) {
    await minute();
    const readiness = (await (await fetch(`${url}/readyz`)).json()) as { minting: string };
    if (readiness.minting === "ok") return;
  }
  throw new Error("The log does not take the commitments to the epochs.");
}
