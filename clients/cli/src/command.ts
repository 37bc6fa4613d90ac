import { type ParseArgsConfig, parseArgs } from "node:util";
import { EXIT, Failure } from "./failure.ts";
import type { Terminal } from "./terminal.ts";

/** One option: `value` names what it takes in the help. */
export interface Option {
  type: "string" | "boolean";
  short?: string;
  multiple?: boolean;
  about: string;
  value?: string;
}

export type Options = Record<string, Option>;

/** What a command is given: the values of its options, as `parseArgs` reads them. */
export type Values<O extends Options> = ReturnType<
  typeof parseArgs<{ options: O; allowPositionals: true; strict: true }>
>["values"];

/** One command, ready to be called. */
export interface Command {
  /** How it is called, behind the program's name. */
  usage: string;
  about: string;
  options: Options;
  /** Resolves to the exit code. */
  run(args: string[], terminal: Terminal): Promise<number>;
}

/** Options that every command takes that asks the service. */
export const SERVICE = {
  url: { type: "string", value: "URL", about: "where the service is (AGENT_SCREENING_URL)" },
  key: { type: "string", value: "KEY", about: "an API key (AGENT_SCREENING_KEY)" },
  json: { type: "boolean", about: "print the result as JSON" },
} as const satisfies Options;

/** A command with its options; `run` gets them with their types. What is behind the most arguments that it takes is refused. */
export function command<const O extends Options>(one: {
  usage: string;
  about: string;
  options: O;
  /** How many arguments it takes besides options; none where this is left out. */
  most?: number;
  run(values: Values<O>, positionals: string[], terminal: Terminal): Promise<number>;
}): Command {
  const config = { options: one.options, allowPositionals: true, strict: true } as const satisfies ParseArgsConfig;
  return {
    ...one,
    run(args, terminal) {
      const { values, positionals } = parseArgs({ ...config, args });
      const surplus = positionals[one.most ?? 0];
      if (surplus !== undefined) {
        const what = `${JSON.stringify(surplus)} is more than this takes.`;
        throw new Failure(EXIT.usage, `${what}\nUsage: agent-screening ${one.usage}`);
      }
      return one.run(values, positionals, terminal);
    },
  };
}
