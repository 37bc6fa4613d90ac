import { type ChildProcess, fork } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { bundle } from "../../commands/bundle.ts";
import { WORKERS } from "../limits.ts";
import { assertSettings, type Settings } from "../settings.ts";
import type { WorkerLog } from "./log.ts";
import type { News, Order } from "./process.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const BUILDS = join(ROOT, "dist");
const SOURCES = [
  "functions",
  "queues",
  "shared",
  "test/commands/bundle.ts",
  "test/commands/bundling",
  "package-lock.json",
];

/** Nothing in a local stack speaks to the network beyond this machine. */
const SILENCE = { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false", WRANGLER_LOG: "warn" };

/**
 * Bundles the Worker just as a deployment does, unless that was done for these very sources; returns its entry's path.
 * Calls side by side are safe: each builds in a folder of its own, and the first to finish is kept.
 */
export async function buildWorker(): Promise<string> {
  const folder = join(BUILDS, `worker-${digest()}`);
  const entry = join(folder, "index.js");
  if (existsSync(entry)) return entry;
  const scratch = join(BUILDS, `.building-${process.pid}`);
  rmSync(scratch, { recursive: true, force: true });
  await bundle(scratch);
  try {
    renameSync(scratch, folder);
  } catch (error) {
    if (!existsSync(entry)) throw error;
    rmSync(scratch, { recursive: true, force: true });
  }
  return entry;
}

function digest(): string {
  const hash = createHash("sha256");
  const visit = (path: string): void => {
    if (statSync(path).isDirectory()) {
      for (const name of readdirSync(path).toSorted()) visit(join(path, name));
    } else {
      hash.update(path.slice(ROOT.length)).update(readFileSync(path));
    }
  };
  for (const source of SOURCES) visit(join(ROOT, source));
  return hash.digest("hex").slice(0, 16);
}

/** The Worker, running in workerd. */
export interface RunningWorker {
  url: string;
  /** Runs the scheduled handler for a cron expression and waits for it. */
  scheduled(cron: string): Promise<void>;
  stop(): Promise<void>;
}

const START_ATTEMPTS = 20;
const ATTEMPT_MS = 250;

/**
 * Starts the bundled Worker, or another `entry`, in workerd on a port of this machine, with as much memory as the platform
 * gives an isolate, and with what it lets an invocation send, on a paid plan or as `subrequests` says; what it logs goes to
 * `log`. A port that a killed stack has not given up yet is waited for.
 * @throws when the Worker does not come up, with what workerd says.
 */
export async function startWorker(
  settings: Settings,
  port: number,
  {
    entry,
    log,
    subrequests = WORKERS.subrequests.paid,
  }: { entry?: string; log?: WorkerLog; subrequests?: number } = {},
): Promise<RunningWorker> {
  assertSettings(settings);
  const script = entry ?? (await buildWorker());
  for (let attempt = 1; ; attempt += 1) {
    const child = fork(new URL("./process.ts", import.meta.url), {
      env: { ...process.env, ...SILENCE, MINIFLARE_WORKERD_V8_FLAGS: `--max-old-space-size=${WORKERS.memoryMib}` },
    });
    child.on("message", (news: News) => {
      if (news.kind === "log") log?.add(news.text, news.level);
    });
    const news = await ask(child, { kind: "start", bundle: script, settings, port, subrequests });
    if (news.kind === "ready") return running(child, port);
    await stopped(child);
    const message = news.kind === "failed" ? news.message : "the Worker's process ended";
    if (attempt === START_ATTEMPTS || !/in use/i.test(message))
      throw new Error(`The Worker does not start: ${message}`);
    await delay(ATTEMPT_MS);
  }
}

function running(child: ChildProcess, port: number): RunningWorker {
  let orders = 0;
  return {
    url: `http://127.0.0.1:${port}`,
    async scheduled(cron) {
      const news = await ask(child, { kind: "scheduled", id: (orders += 1), cron });
      if (news.kind === "done" && news.error !== undefined) throw new Error(news.error);
    },
    stop: () => stopped(child),
  };
}

/** Sends an order and waits for its answer; a child that ends instead counts as failed. */
function ask(child: ChildProcess, order: Order): Promise<News> {
  return new Promise((resolve) => {
    const settle = (news: News): void => {
      child.off("message", listener);
      child.off("exit", ended);
      resolve(news);
    };
    const listener = (news: News): void => {
      const isAnswer = news.kind === "done" ? order.kind === "scheduled" && news.id === order.id : news.kind !== "log";
      if (isAnswer) settle(news);
    };
    const ended = (): void => settle({ kind: "failed", message: "the Worker's process ended" });
    child.on("message", listener);
    child.once("exit", ended);
    child.send(order);
  });
}

function stopped(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.disconnect();
  });
}
