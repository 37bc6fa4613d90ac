import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openClient } from "../stack/neon/connections.ts";
import { removeData } from "../stack/neon/postgres-files.ts";
import { secretsOf } from "../stack/settings.ts";
import { type Caller, caller } from "../stack/client.ts";

/** A whole stack in a process of its own, as `npm run dev` starts it. */
export interface Deployed extends Caller {
  url: string;
  /** The database itself, beside the service. */
  databaseUrl: string;
  console: Caller;
  /** Where the service finds its database: the front and the connection string. */
  settings(): { NEON_LOCAL_PROXY: string; DATABASE_URL: string };
  /** Where the service publishes its messages, and by which token. */
  queue(): { QSTASH_URL: string; QSTASH_TOKEN: string };
  /** Kills the process with SIGKILL: nothing gets to clean up. */
  crash(): Promise<void>;
  /** Starts it again on the same data and ports. */
  restart(): Promise<void>;
  sql<T extends object = Record<string, unknown>>(text: string, params?: unknown[]): Promise<T[]>;
  stop(): Promise<void>;
}

const DEV = fileURLToPath(new URL("../commands/dev.ts", import.meta.url));

/** Below those that systems give to connections, of which one could take the port before the stack does. */
const PORTS = { first: 20_000, count: 10_000 };

/** A port that is free now, and that nobody gets by chance. */
async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(PORTS.first + randomInt(PORTS.count), "127.0.0.1");
    const port = await once(server, "listening").then(
      () => (server.address() as { port: number }).port,
      () => null,
    );
    if (port === null) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}

/** Starts a stack on free ports with data of its own. */
export async function deploy(): Promise<Deployed> {
  const dir = mkdtempSync(join(tmpdir(), "screening-e2e-"));
  const [port, consolePort] = [await freePort(), await freePort()];
  // The test runner sets variables of its own, BASE_URL among them, that would be taken for settings.
  const { BASE_URL: _runner, ...inherited } = process.env;
  const env = { ...inherited, PORT: String(port), CONSOLE_PORT: String(consolePort), STACK_DIR: dir };
  let child: ChildProcess | undefined;
  let database = "";
  let front = "";
  let queue = "";

  async function start(): Promise<void> {
    const started = spawn(process.execPath, [DEV], { env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    child = started;
    let output = "";
    await new Promise<void>((resolve, reject) => {
      const read = (chunk: Buffer): void => {
        output += chunk.toString();
        if (output.includes("Ctrl-C stops everything")) resolve();
      };
      started.stdout.on("data", read);
      started.stderr.on("data", read);
      started.once("exit", () => reject(new Error(`the stack ended: ${output}`)));
    });
    database = /postgres:\/\/\S+/.exec(output)?.[0] ?? "";
    front = /driver's front\s+(\S+)/.exec(output)?.[1] ?? "";
    queue = /the queue\s+(\S+)/.exec(output)?.[1] ?? "";
  }

  async function end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }

  await start();
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    get databaseUrl() {
      return database;
    },
    settings: () => ({ NEON_LOCAL_PROXY: front, DATABASE_URL: "postgres://bench:bench@database.localtest/screening" }),
    queue: () => ({ QSTASH_URL: queue, QSTASH_TOKEN: secretsOf(dir)["QSTASH_TOKEN"] ?? "" }),
    ...caller({ url }),
    console: caller({ url: `http://127.0.0.1:${consolePort}` }),
    crash: () => end("SIGKILL"),
    restart: start,
    async sql<T extends object>(text: string, params: unknown[] = []) {
      const client = await openClient(database);
      try {
        return (await client.query(text, params)).rows as T[];
      } finally {
        await client.end();
      }
    },
    async stop() {
      await end("SIGTERM");
      // Of root they lie elsewhere, and nobody else would ever take them away.
      await removeData(join(dir, "postgres"));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Asks until the answer fits; the stack's own time limits bound the wait. */
export async function until<T>(ask: () => Promise<T>, fits: (answer: T) => boolean): Promise<T> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const answer = await ask();
    if (fits(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`still not so after a minute: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
