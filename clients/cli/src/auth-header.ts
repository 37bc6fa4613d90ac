import type { Options } from "./command.ts";
import { lineOfInput } from "./settings.ts";
import { note, type Terminal } from "./terminal.ts";

const VALUE = "AGENT_SCREENING_AUTH_VALUE";

/** The option of commands that name an endpoint. No argument takes the value: everybody on a machine can read those. */
export const AUTH_HEADER = {
  "auth-header": {
    type: "string",
    value: "NAME",
    about: `a header that the endpoint wants, such as Authorization; its value is ${VALUE}, or a line on standard input`,
  },
} as const satisfies Options;

/** The header of that name, undefined without a name. @throws Failure where nobody gives a value */
export async function authHeaderOf(
  name: string | undefined,
  terminal: Terminal,
): Promise<{ name: string; value: string } | undefined> {
  if (name === undefined) return undefined;
  const value = (terminal.env[VALUE] ?? "").trim();
  if (value !== "") return { name, value };
  if (process.stdin.isTTY) note(terminal, `Type the value of the header ${name}:`);
  const missing = `The header ${name} needs a value: set ${VALUE}, or give it on standard input.`;
  return { name, value: await lineOfInput(missing) };
}
