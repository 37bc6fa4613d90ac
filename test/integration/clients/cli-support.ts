import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildCommandLine } from "../../../clients/cli/build.ts";
import { startConsumer } from "../../stack/broker/harness.ts";
import { newUser } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addSuite, startAgent } from "../runs/support.ts";
import { install, newFolder } from "./packing-support.ts";

const run = promisify(execFile);

/** How many tasks the suite `dozen` has. */
export const TASKS = 12;
/** The title of each of them. */
const MARKUP = '<b>&"|\u001b[31m';

/** A service with a suite `dozen`, an agent, and the packed command line in a folder, of an account with a key. */
export type Packed = Awaited<ReturnType<typeof startPacked>>;

/** Starts what the command line is tried with. */
export async function startPacked() {
  const service = await startService();
  const endpoint = await startAgent();
  await addSuite(service, TASKS, { slug: "dozen", columns: { title: MARKUP } });
  // With the usual limit a minute the last calls would wait for the next one.
  const user = await newUser(service, { plan: "team" });
  const wanted = { name: "cli", scope: "write", rate_limit_per_minute: 6000 };
  const { key } = (await user.call("POST", "/api/v1/api-keys", wanted)).body;
  const folder = newFolder([]);
  await install("cli", buildCommandLine, folder);
  return {
    service,
    endpoint,
    user,
    folder,
    key: String(key),
    cli: commandLine(folder, { AGENT_SCREENING_URL: service.url, AGENT_SCREENING_KEY: String(key) }),
    async stop() {
      rmSync(folder, { recursive: true, force: true });
      await endpoint.stop();
      await service.stop();
    },
  };
}

/** Next to no port is less likely to be taken than the one that no TCP service has. */
export const NOBODY = "http://127.0.0.1:1";

/** What stands before a service: it gives what `instead` says, else what the service gives. */
export async function startFront(
  service: TestService,
  instead: (path: string) => { status: number; headers?: Record<string, string>; body?: Buffer } | null,
) {
  const front = await startConsumer();
  front.answer = async ({ method, url: { pathname, search }, headers: { accept, authorization }, body }) => {
    const given = instead(pathname + search);
    if (given !== null) return given;
    const headers = { accept: String(accept), ...(authorization === undefined ? {} : { authorization }) };
    const sent =
      method === "POST" ? { method, body, headers: { ...headers, "content-type": "application/json" } } : { headers };
    const answer = await fetch(service.url + pathname + search, sent);
    return { status: answer.status, body: Buffer.from(await answer.arrayBuffer()) };
  };
  return front;
}

/** What came of a call of the command line. */
export interface Called {
  code: number;
  stdout: string;
  stderr: string;
}

/** Where the packed command line is in a folder. */
export const mainIn = (folder: string): string => join(folder, "node_modules/agent-screening-cli/dist/main.js");

/** Calls the packed command line at a terminal of 60 columns; resolves to what is seen there, which `heard` gets by and by. */
export async function atTerminal(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  heard: (text: string) => void = () => undefined,
): Promise<string> {
  const command = ["stty cols 60;", process.execPath, mainIn(folder), ...args].join(" ");
  const running = run("script", ["-qec", command, "/dev/null"], {
    cwd: folder,
    env: { ...process.env, XDG_CONFIG_HOME: folder, ...env },
  });
  running.child.stdout?.on("data", heard);
  return (await running).stdout;
}

/** The packed command line in a folder, as a shell starts it. */
export function commandLine(folder: string, env: Readonly<Record<string, string>>) {
  const main = mainIn(folder);
  /** Calls it with arguments; `more` is added to its environment, `node` runs it, `heard` gets what it prints by and by. */
  return async (
    args: readonly string[],
    more: Record<string, string> = {},
    node = process.execPath,
    heard: (text: string) => void = () => undefined,
  ): Promise<Called> => {
    const options = { cwd: folder, env: { PATH: process.env["PATH"], XDG_CONFIG_HOME: folder, ...env, ...more } };
    try {
      const running = run(node, [main, ...args], options);
      for (const stream of [running.child.stdout, running.child.stderr]) stream?.on("data", heard);
      return { code: 0, ...(await running) };
    } catch (error) {
      const { code, stdout, stderr } = error as Called;
      return { code, stdout, stderr };
    }
  };
}
