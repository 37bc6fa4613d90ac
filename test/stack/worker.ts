import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import type { Settings } from "./settings.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BUILDS = join(ROOT, "dist");
const SOURCES = ["functions", "queues", "shared", "wrangler.toml", "package-lock.json"];

/** Nothing in a local stack speaks to the network beyond this machine. */
export const SILENCE = { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false", WRANGLER_LOG: "warn" };

/**
 * Bundles the Worker just as a deployment does, unless that was done for these very sources; returns the bundle's path.
 * Calls side by side are safe: each builds in a folder of its own, and the first to finish is kept.
 */
export async function buildWorker(): Promise<string> {
  const folder = join(BUILDS, `worker-${digest()}`);
  const bundle = join(folder, "index.js");
  if (existsSync(bundle)) return bundle;
  const scratch = join(BUILDS, `.building-${process.pid}`);
  mkdirSync(scratch, { recursive: true });
  const wrangler = join(dirname(createRequire(import.meta.url).resolve("wrangler/package.json")), "bin", "wrangler.js");
  await promisify(execFile)(process.execPath, [wrangler, "deploy", "--dry-run", "--outdir", scratch], {
    cwd: ROOT,
    env: { ...process.env, ...SILENCE },
  });
  try {
    renameSync(scratch, folder);
  } catch (error) {
    if (!existsSync(bundle)) throw error;
    rmSync(scratch, { recursive: true, force: true });
  }
  return bundle;
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

/** Starts the bundled Worker in workerd on a port of this machine. */
export async function startWorker(settings: Settings, port: number): Promise<RunningWorker> {
  const toml = readFileSync(join(ROOT, "wrangler.toml"), "utf8");
  const options = convertV4MiniflareOptions({
    name: "service",
    scriptPath: await buildWorker(),
    modules: true,
    compatibilityDate: /compatibility_date = "(.+)"/.exec(toml)?.[1] ?? "",
    compatibilityFlags: [...(/compatibility_flags = \[(.*)\]/.exec(toml)?.[1] ?? "").matchAll(/"(\w+)"/g)].map(
      ([, flag]) => flag as string,
    ),
    bindings: settings,
    host: "127.0.0.1",
    port,
    cf: false,
    logRequests: false,
    telemetry: { enabled: false },
    stripCfConnectingIp: false,
  });
  const miniflare = new Miniflare(options);
  await miniflare.ready;
  return {
    url: `http://127.0.0.1:${port}`,
    async scheduled(cron) {
      const worker = await miniflare.getWorker();
      await worker.scheduled({ cron });
    },
    stop: () => miniflare.dispose(),
  };
}
