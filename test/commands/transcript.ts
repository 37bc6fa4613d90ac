/**
 * `npm run transcript`: does what the README begins with, for real, and writes what was typed and printed between its two
 * marks; with `--check` it fails where the README says something else. What is another each time (ids, times, numbers) stands
 * there as a sign of its own.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildCommandLine } from "../../clients/cli/build.ts";
import { listen } from "../stack/http.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const README = join(ROOT, "README.md");
const [BEGIN, END] = ["<!-- transcript -->\n", "<!-- end of transcript -->"];
const [SERVICE, AGENT] = ["http://127.0.0.1:8787", "http://127.0.0.1:9001/"];

/** What a command came to. */
interface Ended {
  code: number | null;
  output: string;
}

/** A port that nobody has. */
async function freePort(): Promise<number> {
  const probe = await listen(() => ({ status: 204 }));
  await probe.close();
  return probe.port;
}

const folder = mkdtempSync(join(tmpdir(), "transcript-"));
const [port, consolePort, agentPort] = [await freePort(), await freePort(), await freePort()];
const service = `http://127.0.0.1:${port}`;
const agent = `http://127.0.0.1:${agentPort}/`;
const env = {
  ...process.env,
  AGENT_SCREENING_KEY: "",
  AGENT_SCREENING_URL: service,
  XDG_CONFIG_HOME: join(folder, ".config"),
  STACK_DIR: join(folder, "stack"),
  PORT: String(port),
  CONSOLE_PORT: String(consolePort),
};
const ending: (() => Promise<void>)[] = [];

/** Starts a program that goes on, and waits until it says so; gives what it said till then. */
function started(
  command: string,
  args: string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; until: RegExp },
): Promise<string> {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "inherit"] });
  const over = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
  ending.unshift(async () => {
    child.kill("SIGINT");
    await over;
  });
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (data: Buffer) => {
      said += String(data);
      if (options.until.test(said)) resolve(said);
    });
    child.once("exit", (code) => reject(new Error(`${command} ended with ${code}: ${said}`)));
  });
}

/** Calls the command line; standard output and error as a terminal would show them, but in plain lines. */
function called(...args: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [join(folder, "cli/main.js"), ...args], { cwd: folder, env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (output += String(data)));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}

/** What is the same each time of what was printed. */
function steady(text: string): string {
  return text
    .replaceAll(service, SERVICE)
    .replaceAll(agent, AGENT)
    .replaceAll(new URL(agent).host, new URL(AGENT).host)
    .replaceAll(folder, "~")
    .replaceAll(/[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/g, "0199…")
    .replaceAll(/dev-\d+@/g, "dev@");
}

/** The lines that say what came of a screening, without those of the tasks, which are others each time. */
function outcome(text: string): string {
  return text
    .split("\n")
    .filter((line) => /^(?:Screening|score|The score|http)/.test(line))
    .map((line) => (/^(?:score|The)/.test(line) ? line.replaceAll(/\d+\.\d+/g, "…") : line))
    .join("\n");
}

async function transcript(): Promise<string> {
  await buildCommandLine(join(folder, "cli"));
  const dev = [join(folder, "cli/main.js"), "dev", "--checkout", ROOT];
  const said = await started(process.execPath, dev, { cwd: folder, env, until: /Ctrl-C stops/ });
  const address = steady(/^ {2}the service .*$/m.exec(said)?.[0] ?? "");
  const login = await called("login", "--new");
  const init = await called("init", "typescript");
  const listening = await started(process.execPath, ["agent.ts"], {
    cwd: folder,
    env: { ...process.env, PORT: String(agentPort), SERVICE_URL: service },
    until: /listening at/,
  });
  const screened = await called("screen", agent, "--wait", "--fail-under", "70");
  if (login.code !== 0 || init.code !== 0 || screened.code !== 1) {
    throw new Error([login, init, screened].map(({ code, output }) => `${code}: ${output}`).join("\n"));
  }
  return [
    "$ agent-screening dev                  # in a terminal of its own",
    address,
    "$ agent-screening login --new",
    steady(login.output).trim(),
    "$ agent-screening init typescript",
    steady(init.output).split("\n")[0],
    "$ node agent.ts &",
    steady(listening).trim(),
    `$ agent-screening screen ${AGENT} --wait --fail-under 70`,
    outcome(steady(screened.output)),
    "$ echo $?",
    String(screened.code),
  ].join("\n");
}

try {
  const block = `${BEGIN}\`\`\`console\n${await transcript()}\n\`\`\`\n`;
  const readme = readFileSync(README, "utf8");
  const [from, to] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (from < 0 || to < from) throw new Error("README.md has no place for the transcript.");
  if (!process.argv.includes("--check")) writeFileSync(README, readme.slice(0, from) + block + readme.slice(to));
  else if (readme.slice(from, to) !== block) {
    throw new Error(`README.md shows another transcript: run npm run transcript. This is what happens now:\n${block}`);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  for (const end of ending) await end();
  rmSync(folder, { recursive: true, force: true });
}
