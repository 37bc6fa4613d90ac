import { accessSync, chmodSync, constants, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline/promises";
import { textOfFile } from "../../../shared/verify/bytes.ts";
import { createClient, type ScreeningClient } from "../../typescript/src/client.ts";
import { EXIT, Failure, reach } from "./failure.ts";
import { waitingOn } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

/** The service on this machine, as `agent-screening dev` starts it. */
const LOCAL = "http://127.0.0.1:8787";

const ELSEWHERE = "Name another folder by XDG_CONFIG_HOME, or keep none: AGENT_SCREENING_KEY takes a key, too.";

/** What `login` keeps: the service that was last signed in to, and the key of each. */
interface Kept {
  url?: string;
  keys: Record<string, string>;
}

/** The file that `login` writes, readable by its owner alone. @throws Failure where nothing says whose it would be */
export function fileOf({ env }: Pick<Terminal, "env">): string {
  const folder = (env["XDG_CONFIG_HOME"] || undefined) ?? join(homeOf(), ".config");
  return join(folder, "agent-screening", "config.json");
}

function homeOf(): string {
  let home = "";
  try {
    home = homedir();
  } catch {
    // As in a container, whose user has no name and no folder.
  }
  // An empty one would be the folder that this is called in, which others may read and commit.
  if (home !== "") return home;
  throw new Failure(EXIT.usage, `There is no home folder to keep a key in.\n${ELSEWHERE}`);
}

/** What was kept; nothing where there is no file. @throws Failure for a file that is damaged. */
export function kept(terminal: Pick<Terminal, "env">): Kept {
  let file: string;
  let text: string;
  try {
    file = fileOf(terminal);
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

/** Makes sure that a key can be kept, before the service makes one. @throws Failure where it can't */
export function provenToKeep(terminal: Pick<Terminal, "env">): void {
  const folder = dirname(fileOf(terminal));
  kept(terminal);
  keeping(terminal, () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
  });
}

/** Keeps a key for a service, and that service as the one to take from now on. @throws Failure where it can't */
export function keep(terminal: Pick<Terminal, "env">, url: string, key: string): string {
  const file = fileOf(terminal);
  const { keys } = kept(terminal);
  keeping(terminal, () => {
    const text = `${JSON.stringify({ url, keys: { ...keys, [url]: key } }, null, 2)}\n`;
    // Of this process alone: another one may sign in at the same time.
    const own = `${file}.${process.pid}`;
    writeFileSync(own, text, { mode: 0o600 });
    chmodSync(own, 0o600);
    renameSync(own, file);
  });
  return file;
}

function keeping(terminal: Pick<Terminal, "env">, work: () => void): void {
  try {
    work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(EXIT.usage, `A key can't be kept in ${fileOf(terminal)}: ${why}\n${ELSEWHERE}`);
  }
}

/** A key as it can be sent. @throws Failure for what is none, without repeating it: it may be a secret all the same */
export function sendable(key: string): string {
  const text = key.trim();
  if (/^[!-~]+$/.test(text)) return text;
  throw new Failure(
    EXIT.usage,
    "The API key has blanks, line breaks or characters that no key has: give the one line that begins with ask_.",
  );
}

/** Where the service is: by the option, the environment, the last sign-in, or on this machine. @throws Failure for no URL. */
export function urlOf(option: string | undefined, terminal: Pick<Terminal, "env">): string {
  const given = option ?? (terminal.env["AGENT_SCREENING_URL"] || undefined) ?? kept(terminal).url ?? LOCAL;
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol)) {
    throw new Failure(EXIT.usage, `${given} is no address of a service: it begins with https://.`);
  }
  // As URL has it: what stands around it in a variable, as the line's end of a secret, is no part of it.
  const { origin, pathname } = new URL(given);
  return `${origin}${pathname}`.replace(/\/+$/, "");
}

/** The client for a command, with the key by the option, the environment or the last sign-in, if there is one. */
export function connect(
  { url: option, key }: { url?: string | undefined; key?: string | undefined },
  terminal: Terminal,
): { url: string; client: ScreeningClient; signedIn: boolean } {
  const url = urlOf(option, terminal);
  const known = key ?? (terminal.env["AGENT_SCREENING_KEY"] || undefined) ?? kept(terminal).keys[url];
  return {
    url,
    client: createClient({
      baseUrl: url,
      key: known === undefined ? known : sendable(known),
      fetch: reach,
      sleep: waitingOn(terminal),
    }),
    signedIn: known !== undefined,
  };
}

/** The same for a command that needs a key. @throws Failure without one. */
export function connectSignedIn(values: Parameters<typeof connect>[0], terminal: Terminal) {
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
    return textOfFile(readFileSync(file));
  } catch (error) {
    throw new Failure(EXIT.usage, error instanceof Error ? error.message : String(error));
  }
}

/** The first line of standard input that holds something. @throws Failure where there is none, which says `missing` */
export async function lineOfInput(missing: string): Promise<string> {
  const lines = createInterface({ input: process.stdin });
  try {
    for await (const line of lines) if (line.trim() !== "") return line.trim();
  } finally {
    lines.close();
  }
  throw new Failure(EXIT.usage, missing);
}
