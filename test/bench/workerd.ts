import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";
import * as z from "zod";

/** A Worker in a workerd of its own, with nothing around it that would blur how long it takes to start. */
export interface Bare {
  /** From the start of the process to the end of its first answer, in milliseconds. */
  started: number;
  /** How long an answer takes, in milliseconds. */
  ask(method: string, path: string): Promise<number>;
  stop(): Promise<void>;
}

/** The package that miniflare runs. */
const requireOfMiniflare = createRequire(createRequire(import.meta.url).resolve("miniflare"));
const { default: BINARY } = z.object({ default: z.string() }).parse(requireOfMiniflare("workerd"));

/** Starts the modules of a folder, `index.js` first, with settings as its bindings, and asks it for a path it has not. */
export async function startBare(folder: string, settings: Readonly<Record<string, string>>): Promise<Bare> {
  const port = await freePort();
  const config = join(folder, `${port}.capnp`);
  writeFileSync(config, configOf(folder, settings, port));
  const begun = performance.now();
  const child = spawn(BINARY, ["serve", config], { stdio: "ignore" });
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
  return {
    started: performance.now() - begun,
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
    await ask("GET", "/nothing");
    return true;
  } catch {
    return false;
  }
}

function configOf(folder: string, settings: Readonly<Record<string, string>>, port: number): string {
  const parts = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".js") && name !== "index.js");
  const modules = ["index.js", ...parts].map((name) => `(name = "${name}", esModule = embed "${name}")`);
  const bindings = Object.entries(settings).map(([name, text]) => `(name = "${name}", text = ${JSON.stringify(text)})`);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
const worker :Workerd.Worker = (
  modules = [${modules.join(", ")}],
  bindings = [${bindings.join(", ")}],
  compatibilityDate = "2026-11-01"
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
