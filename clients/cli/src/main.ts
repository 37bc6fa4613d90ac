#!/usr/bin/env node
/** The command line: finds the command, loads it, and turns errors into exit codes. */
import type { Command } from "./command.ts";
import type { Terminal } from "./terminal.ts";

/** The commands, each loaded when it is called. */
const COMMANDS: Readonly<Record<string, readonly [about: string, load: () => Promise<Command>]>> = {
  login: ["sign in to a service", async () => (await import("./commands/login.ts")).login],
  init: [
    "write an agent to start from, in TypeScript, Python or Go",
    async () => (await import("./commands/init.ts")).init,
  ],
  test: ["call an agent's endpoint once, as a run does", async () => (await import("./commands/test.ts")).test],
  screen: ["screen an agent, and wait for its score", async () => (await import("./commands/screen.ts")).screen],
  runs: ["list runs", async () => (await import("./commands/runs.ts")).runs],
  board: ["show the board", async () => (await import("./commands/board.ts")).board],
  compare: [
    "compare agents or screenings over the same tasks",
    async () => (await import("./commands/compare.ts")).compare,
  ],
  verify: ["verify a signed statement on this machine", async () => (await import("./commands/verify.ts")).verify],
  log: ["follow the log of all that was signed", async () => (await import("./commands/log.ts")).log],
  dev: ["start the whole service on this machine", async () => (await import("./commands/dev.ts")).dev],
};

function help(): string {
  const lines = Object.entries(COMMANDS).map(([name, [about]]) => `  ${name.padEnd(9)} ${about}`);
  return `agent-screening: screens AI agents

Usage: agent-screening COMMAND [options]

${lines.join("\n")}

agent-screening COMMAND --help tells more of each.
AGENT_SCREENING_URL says where the service is, AGENT_SCREENING_KEY holds an API key.
Exit codes: 0 fine, 1 a failing agent, below the threshold or a regression, 2 usage, 3 service or network, 4 not allowed.
`;
}

function helpOf({ usage, about, options }: Command): string {
  const lines = Object.entries(options).map(([name, { short, value, about: text }]) => {
    const flag = `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
    return `  ${flag.padEnd(24)} ${text}`;
  });
  return `Usage: agent-screening ${usage}\n\n${about}\n\n${lines.join("\n")}\n`;
}

async function main(args: string[], terminal: Terminal): Promise<number> {
  const [name = "--help", ...rest] = args;
  if (name === "--help" || name === "-h" || name === "help") {
    terminal.stdout.write(help());
    return args.length === 0 ? 2 : 0;
  }
  if (name === "--version") {
    terminal.stdout.write(`${(await import("../package.json", { with: { type: "json" } })).default.version}\n`);
    return 0;
  }
  const found = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (found === undefined) {
    terminal.stderr.write(`There is no command ${JSON.stringify(name)}.\n\n${help()}`);
    return 2;
  }
  const command = await found[1]();
  if (rest.includes("--help") || rest.includes("-h")) {
    terminal.stdout.write(helpOf(command));
    return 0;
  }
  try {
    return await command.run(rest, terminal);
  } catch (error) {
    const { exit, text } = (await import("./failure.ts")).explained(error);
    terminal.stderr.write(`${text}\n${exit === 2 ? `agent-screening ${name} --help tells how it is used.\n` : ""}`);
    return exit;
  }
}

/** Whoever reads the result may have enough of it, as `head` has: what comes of the command stays as it is. */
function onlyClosed(error: Error): void {
  if (!("code" in error) || error.code !== "EPIPE") throw error;
}

for (const stream of [process.stdout, process.stderr]) stream.on("error", onlyClosed);
process.on("uncaughtException", (error) => {
  process.stderr.write(`${error.message}\n`);
  // At once, and not by Node's 1, which says that an agent is under its threshold.
  process.exit(3);
});
process.exitCode = await main(process.argv.slice(2), process);
