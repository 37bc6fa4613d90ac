import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { createClient, type ScreeningClient } from "../../typescript/src/client.ts";
import { EXIT, Failure, reach } from "./failure.ts";
import type { Terminal } from "./terminal.ts";

/** The service on this machine, as `agent-screening dev` starts it. */
const LOCAL = "http://127.0.0.1:8787";

/** What `login` keeps: the service that was last signed in to, and the key of each. */
interface Kept {
  url?: string;
  keys: Record<string, string>;
}

/** The file that `login` writes, readable by its owner alone. */
export function fileOf({ env }: Pick<Terminal, "env">): string {
  const folder = env["XDG_CONFIG_HOME"] ?? "";
  return join(folder === "" ? join(homedir(), ".config") : folder, "agent-screening", "config.json");
}

/** What was kept; nothing where there is no file. @throws Failure for a file that is damaged. */
export function kept(terminal: Pick<Terminal, "env">): Kept {
  const file = fileOf(terminal);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return { keys: {} };
  }
  try {
    const { url, keys }: { url?: unknown; keys?: unknown } = JSON.parse(text);
    const entries = Object.entries(typeof keys === "object" && keys !== null ? keys : {});
    const known = entries.flatMap(([service, key]) => (typeof key === "string" ? [[service, key] as const] : []));
    return { ...(typeof url === "string" ? { url } : {}), keys: Object.fromEntries(known) };
  } catch {
    throw new Failure(EXIT.usage, `${file} is damaged: remove it and sign in again with \`agent-screening login\`.`);
  }
}

/** Keeps a key for a service, and that service as the one to take from now on. */
export function keep(terminal: Pick<Terminal, "env">, url: string, key: string): string {
  const file = fileOf(terminal);
  const { keys } = kept(terminal);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, `${JSON.stringify({ url, keys: { ...keys, [url]: key } }, null, 2)}\n`, { mode: 0o600 });
  chmodSync(`${file}.new`, 0o600);
  renameSync(`${file}.new`, file);
  return file;
}

/** Where the service is: by the option, the environment, the last sign-in, or on this machine. @throws Failure for no URL. */
export function urlOf(option: string | undefined, terminal: Pick<Terminal, "env">): string {
  const given = option ?? (terminal.env["AGENT_SCREENING_URL"] || undefined) ?? kept(terminal).url ?? LOCAL;
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol)) {
    throw new Failure(EXIT.usage, `${given} is no address of a service: it begins with https://.`);
  }
  return given.replace(/\/+$/, "");
}

/** The client for a command, with the key by the option, the environment or the last sign-in, if there is one. */
export function connect(
  { url: option, key }: { url?: string | undefined; key?: string | undefined },
  terminal: Pick<Terminal, "env">,
): { url: string; client: ScreeningClient; signedIn: boolean } {
  const url = urlOf(option, terminal);
  const known = key ?? (terminal.env["AGENT_SCREENING_KEY"] || undefined) ?? kept(terminal).keys[url];
  return {
    url,
    client: createClient({ baseUrl: url, key: known, fetch: reach, retries: 2 }),
    signedIn: known !== undefined,
  };
}

/** The same for a command that needs a key. @throws Failure without one. */
export function connectSignedIn(values: Parameters<typeof connect>[0], terminal: Pick<Terminal, "env">) {
  const { signedIn, ...connection } = connect(values, terminal);
  if (signedIn) return connection;
  throw new Failure(
    EXIT.notAllowed,
    `You are not signed in to ${connection.url}: run \`agent-screening login\`, or set AGENT_SCREENING_KEY.`,
  );
}

/** The text of a file that was named, 0 for standard input. @throws Failure where it can't be read. */
export function textOf(file: string | 0): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Failure(EXIT.usage, error instanceof Error ? error.message : String(error));
  }
}
