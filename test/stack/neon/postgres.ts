import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile, rename, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { escapeIdentifier } from "pg";
import { openClient } from "./connections.ts";
import { type Account, dataFolder, exists, nativeFolder, serverAccount } from "./postgres-files.ts";

/** A running PostgreSQL server. */
export interface Postgres {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** The URL of the `postgres` database. */
  readonly adminUrl: string;
  /** The URL of a database of this server. */
  readonly url: (database: string) => string;
  /** Creates a database, as a copy of `template` if given, which nobody may be connected to meanwhile. */
  createDatabase(name: string, template?: string): Promise<void>;
  /** Drops a database if it exists, and cuts off whoever is connected to it. */
  dropDatabase(name: string): Promise<void>;
  /** Shuts the server down in order, and resolves when it is gone. */
  stop(): Promise<void>;
}

const HOST = "127.0.0.1";
const USER = "postgres";
// Connections from this machine are trusted: the password only serves clients that insist on one.
const PASSWORD = "postgres";
const START_MS = 30_000;
const STOP_MS = 10_000;

// No fsync: the data outlive a kill -9 of the server, as the kernel keeps the written pages, but not a power cut.
// Commits still wait for the write, and full pages still go to the log, since a kill can tear a page in two.
const SETTINGS: Readonly<Record<string, string>> = {
  fsync: "off",
  listen_addresses: HOST,
  unix_socket_directories: "",
  max_connections: "200",
  wal_level: "minimal",
  max_wal_senders: "0",
  timezone: "UTC",
  lc_messages: "C",
};

/** Of a server whose data nobody needs after a crash: what is written to be safe from one is left out. */
const THROWAWAY: Readonly<Record<string, string>> = { synchronous_commit: "off", full_page_writes: "off" };

/**
 * Starts a PostgreSQL server on 127.0.0.1 with its data in `dir`, initialised if there are none (UTF-8, ordered by code
 * point). A server that a killed process left behind on the same data is shut down first.
 * @param options.port the port to listen on; a free one when not given.
 * @param options.throwaway whether the data need not outlive a crash of the server.
 * @throws when a living process runs a server on the same data, or when the server does not come up.
 */
export async function startPostgres(options: {
  dir: string;
  port?: number | undefined;
  throwaway?: boolean;
}): Promise<Postgres> {
  const account = serverAccount();
  const native = await nativeFolder(account);
  const cluster = join(await dataFolder(options.dir, account), "cluster");
  await reclaim(cluster);
  await initialise(native, cluster, account);
  const port = options.port ?? (await freePort());
  const settings = options.throwaway === true ? { ...SETTINGS, ...THROWAWAY } : SETTINGS;
  const server = await launch(native, cluster, { port, settings }, account);
  const url = (database: string) => `postgres://${USER}:${PASSWORD}@${HOST}:${port}/${encodeURIComponent(database)}`;

  async function administer(statement: string): Promise<void> {
    const client = await openClient(url("postgres"));
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  }

  return {
    host: HOST,
    port,
    user: USER,
    password: PASSWORD,
    adminUrl: url("postgres"),
    url,
    createDatabase: (name, template = "template1") =>
      administer(`create database ${escapeIdentifier(name)} template ${escapeIdentifier(template)}`),
    dropDatabase: (name) => administer(`drop database if exists ${escapeIdentifier(name)} with (force)`),
    stop: () => shutDown(server),
  };
}

/**
 * Ends the server that a killed process left behind on the data in `dir`.
 * @throws when a living process runs a server on them.
 */
export async function endFormer(dir: string): Promise<void> {
  await reclaim(join(await dataFolder(dir, serverAccount()), "cluster"));
}

/** Makes the cluster beside its place and moves it there whole, so that an interrupted start leaves none in part. */
async function initialise(native: string, cluster: string, account: Account | undefined): Promise<void> {
  if (await exists(cluster)) return;
  const making = `${cluster}.new`;
  await rm(making, { recursive: true, force: true });
  const locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--encoding=UTF8"];
  const args = ["-D", making, "-U", USER, "--auth=trust", "--no-sync", ...locale];
  await promisify(execFile)(join(native, "bin", "initdb"), args, { ...account, cwd: "/", env: environment() });
  await rename(making, cluster);
}

async function launch(
  native: string,
  cluster: string,
  { port, settings: given }: { port: number; settings: Readonly<Record<string, string>> },
  account: Account | undefined,
): Promise<ChildProcess> {
  // The server ignores settings with a dot that it does not know, so this one tells a later start whose it is.
  const settings = Object.entries({ ...given, "stack.owner": String(process.pid) });
  const args = ["-D", cluster, "-p", String(port), ...settings.flatMap(([name, value]) => ["-c", `${name}=${value}`])];
  // Detached from the terminal, whose Ctrl-C would otherwise end the server before those who still use it.
  const server = spawn(join(native, "bin", "postgres"), args, {
    ...account,
    cwd: "/",
    env: environment(),
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const abandon = () => void server.kill("SIGINT");
  process.once("exit", abandon);
  server.once("exit", () => process.off("exit", abandon));
  try {
    await ready(server);
  } catch (error) {
    await shutDown(server);
    throw error;
  }
  return server;
}

/** Resolves when the server's log says that it takes connections. The log is read on, so that it never blocks. */
async function ready(server: ChildProcess): Promise<void> {
  let log = "";
  let up = false;
  await new Promise<void>((resolve, reject) => {
    const fail = (reason: string) => reject(new Error(`Postgres did not start: ${reason}\n${log}`));
    const timer = setTimeout(() => fail("no answer in time"), START_MS);
    server.once("error", (error) => fail(error.message));
    server.once("exit", (code) => fail(`exit code ${code}`));
    server.once("exit", () => clearTimeout(timer));
    server.stderr?.on("data", (chunk: Buffer) => {
      if (up) return;
      log = (log + chunk.toString()).slice(-8192);
      up = log.includes("database system is ready to accept connections");
      if (!up) return;
      clearTimeout(timer);
      resolve();
    });
  });
}

async function shutDown(server: ChildProcess): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, "exit");
  // SIGINT is the fast shutdown: open transactions are rolled back, clients cut off, a checkpoint written.
  server.kill("SIGINT");
  const timer = setTimeout(() => server.kill("SIGKILL"), STOP_MS);
  await exited;
  clearTimeout(timer);
}

/**
 * Clears the way for a start on `cluster`: ends the server that a killed owner left running there, and takes away a
 * lock file whose process id now belongs to something else. Postgres itself deals with ids that no longer exist.
 */
async function reclaim(cluster: string): Promise<void> {
  const lock = join(cluster, "postmaster.pid");
  const pid = Number.parseInt(await readFile(lock, "utf8").catch(() => ""), 10);
  if (!isAlive(pid)) return;
  const command = await commandLine(pid);
  if (!command.includes(`-D ${cluster} `)) {
    await rm(lock);
    return;
  }
  const owner = Number(/stack\.owner=(\d+)/.exec(command)?.[1]);
  if (isAlive(owner)) throw new Error(`process ${owner} already runs Postgres on ${cluster}`);
  process.kill(pid, "SIGINT");
  // Its last act is to remove the lock; the process itself may stay for a while as a zombie that nobody reaps.
  const gone = async () => !isAlive(pid) || !(await exists(lock));
  for (let waited = 0; !(await gone()) && waited < STOP_MS; waited += 20) await delay(20);
  if (!(await gone())) throw new Error(`Postgres of a former start on ${cluster}, process ${pid}, does not end`);
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

async function commandLine(pid: number): Promise<string> {
  if (process.platform === "linux") return (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ");
  return (await promisify(execFile)("ps", ["-p", String(pid), "-o", "args="])).stdout;
}

/** The caller's environment without the variables by which Postgres would take other settings than those given. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("PG"));
  return { ...Object.fromEntries(own), LC_ALL: "C", TZ: "UTC" };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, HOST);
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}
