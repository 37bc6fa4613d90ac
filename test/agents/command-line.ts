import { parseArgs } from "node:util";
import type { AgentOptions, RunningAgent } from "./server.ts";

const DEFAULT_SERVICE = "http://127.0.0.1:8787";

/** The number that was given with a flag, else its default. */
type NumberOf = (flag: string) => number;

/**
 * Runs an agent alone until Ctrl-C. It takes `--port`, `--service` and further flags with numbers; `defaults` names them
 * and `port`. `AGENT_VERIFY=on` makes it refuse calls that the service has not signed.
 */
export async function runAlone(
  name: string,
  defaults: Readonly<Record<string, number>>,
  start: (options: AgentOptions, numberOf: NumberOf) => Promise<RunningAgent>,
): Promise<void> {
  const flags = [...Object.keys(defaults), "service"];
  const { values } = parseArgs({
    options: Object.fromEntries(flags.map((flag) => [flag, { type: "string" as const }])),
  });
  const numberOf: NumberOf = (flag) => {
    const value = Number(values[flag] ?? defaults[flag]);
    if (!Number.isFinite(value)) throw new TypeError(`--${flag} takes a number`);
    return value;
  };
  const { service = DEFAULT_SERVICE } = values;
  const verify = /^(?:1|on|true|yes)$/iu.test(process.env["AGENT_VERIFY"] ?? "");
  const log = (line: string) => console.log(line);
  const agent = await start({ port: numberOf("port"), service, verify, log }, numberOf);
  console.log(`The ${name} agent listens at ${agent.url} for calls of ${service}.`);
  console.log(`Signatures are ${verify ? "checked" : "not checked; AGENT_VERIFY=on turns that on"}. Ctrl-C ends it.`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void agent.close());
}
