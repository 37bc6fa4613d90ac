import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import * as z from "zod";
import { COMPATIBILITY, modulesOf } from "../stack/worker/deployment.ts";

/** A Worker in a workerd of its own, with nothing around it that would blur how long it takes to start. */
export interface Bare {
  /** From the start of the process to the end of its first answer, in milliseconds. */
  started: number;
  /** How long an answer takes, in milliseconds. */
  ask(method: string, path: string): Promise<number>;
  stop(): Promise<void>;
}

/** A path that no Worker has: its answer comes of what every request needs. */
export const NOTHING = "/api/v1/nothing";

/** More than any bundle has. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The package that miniflare runs. */
const requireOfMiniflare = createRequire(createRequire(import.meta.url).resolve("miniflare"));
const { default: BINARY } = z.object({ default: z.string() }).parse(requireOfMiniflare("workerd"));

/** Starts a bundle by its entry, with settings as its bindings, and asks it for a path that it does not have. */
export async function startBare(entry: string, settings: Readonly<Record<string, string>>): Promise<Bare> {
  const port = await freePort();
  const config = compiled(entry, settings);
  const begun = performance.now();
  const args = ["serve", "--experimental", "--binary", `--socket-addr=http=127.0.0.1:${port}`, config];
  const child = spawn(BINARY, args, { stdio: "ignore" });
  const ended = once(child, "exit");
  const agent = new Agent({ keepAlive: true });
  const ask = async (method: string, path: string): Promise<number> => {
    const asked = performance.now();
    // Not by fetch, which refuses some ports that may be free here.
    const sent = request({ host: "127.0.0.1", port, method, path, agent }).end();
    const [answer]: IncomingMessage[] = await once(sent, "response");
    await once(answer?.resume() ?? sent, "end");
    return performance.now() - asked;
  };
  while (child.exitCode === null && !(await answers(ask))) await new Promise((resolve) => setTimeout(resolve, 1));
  if (child.exitCode !== null) throw new Error("workerd does not start");
  const started = performance.now() - begun;
  rmSync(dirname(config), { recursive: true });
  return {
    started,
    ask,
    async stop() {
      agent.destroy();
      child.kill();
      await ended;
    },
  };
}

async function answers(ask: (method: string, path: string) => Promise<number>): Promise<boolean> {
  try {
    await ask("GET", NOTHING);
    return true;
  } catch {
    return false;
  }
}

/** The text of a config takes workerd tens of milliseconds to read, and no deployment has one: it is compiled before. */
function compiled(entry: string, settings: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "workerd-"));
  const [text, binary] = [join(folder, "config.capnp"), join(folder, "config.bin")];
  writeFileSync(text, configOf(entry, settings));
  const output = execFileSync(BINARY, ["compile", "--config-only", "--import-path=/", text], { maxBuffer: MOST_BYTES });
  writeFileSync(binary, output);
  return binary;
}

const KINDS = { ESModule: "esModule", Text: "text" } as const;

function configOf(entry: string, settings: Readonly<Record<string, string>>): string {
  const quoted = (text: string): string => JSON.stringify(text);
  const modules = modulesOf(entry).map(({ type, path }) => {
    const name = relative(dirname(entry), path).replaceAll("\\", "/");
    return `(name = ${quoted(name)}, ${KINDS[type]} = embed ${quoted(path)})`;
  });
  const bindings = Object.entries(settings).map(([name, text]) => `(name = ${quoted(name)}, text = ${quoted(text)})`);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const worker :Workerd.Worker = (
  modules = [${modules.join(", ")}],
  bindings = [${bindings.join(", ")}],
  compatibilityDate = "${COMPATIBILITY.date}",
  compatibilityFlags = [${COMPATIBILITY.flags.map(quoted).join(", ")}]
);`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("not a TCP port");
  return address.port;
}
