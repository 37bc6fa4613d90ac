/** What the commands on the database have in common: where it is, and what they say where they can't go on. */
import { type Keyring, parseKeyring } from "../shared/platform/encryption.ts";

/** How a command ends: it failed, or the settings that it was given are no use. */
const EXIT = { failed: 1, settings: 2 } as const;

/** A setting is missing or malformed; the message says which, and never holds its value. */
export class BadSetting extends Error {}

const START_AGAIN = "Start it again once the database answers.";
const IS_IT_THERE = "Is the server running, and the host and port of DATABASE_URL right?";
const OTHER_SCHEMA = "Is DATABASE_URL that of this service's database? Then bring it up by npm run migrate first.";

/** What to do next, by SQLSTATE or by the system's code. */
const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: IS_IT_THERE,
  ENOTFOUND: IS_IT_THERE,
  EAI_AGAIN: IS_IT_THERE,
  ETIMEDOUT: IS_IT_THERE,
  EHOSTUNREACH: IS_IT_THERE,
  ENETUNREACH: IS_IT_THERE,
  ECONNRESET: START_AGAIN,
  EPIPE: START_AGAIN,
  "57P01": START_AGAIN,
  "57P03": START_AGAIN,
  "28P01": "Put right the user and the password in DATABASE_URL.",
  "28000": "Put right the user in DATABASE_URL, or let it in at the server.",
  "3D000": "Make it, or put right the name at the end of DATABASE_URL.",
  "42501": "Give DATABASE_URL the role that owns the database.",
  "42P01": OTHER_SCHEMA,
  "42703": OTHER_SCHEMA,
  "42883": OTHER_SCHEMA,
};

/** The address of the database from a script's environment. @throws BadSetting where there is none, or it is none */
export function databaseUrl({ DATABASE_URL: url = "" }: NodeJS.ProcessEnv): string {
  if (url === "")
    throw new BadSetting("Set DATABASE_URL to the database's address, postgres://USER:PASSWORD@HOST/NAME.");
  // What is no address is taken for a path or a host by the driver, which would connect to whatever that is.
  if (!/^postgres(?:ql)?:\/\//.test(url)) throw new BadSetting("DATABASE_URL must start with postgres://");
  try {
    const { username, password, pathname } = new URL(url);
    [username, password, pathname].forEach(decodeURIComponent);
  } catch {
    const hint = "in a password, percent-encode whatever is neither a letter nor a digit.";
    throw new BadSetting(`DATABASE_URL is no address that can be read: ${hint}`);
  }
  return url;
}

/** The encryption keys from a script's environment. @throws BadSetting where there is none, or one is malformed */
export function encryptionKeys(env: NodeJS.ProcessEnv): Keyring {
  try {
    return parseKeyring(env);
  } catch (error) {
    throw new BadSetting(explained(error));
  }
}

/** Does a command's work. What it throws is told in a line that says what to do next, and by how the process ends. */
export async function command(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    console.error(explained(error));
    process.exitCode = error instanceof BadSetting ? EXIT.settings : EXIT.failed;
  }
}

/** What went wrong, in a line, with what to do about it where that is known. */
export function explained(error: unknown): string {
  // A name of several addresses fails with one error for each.
  const one: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (!(one instanceof Error)) return String(one);
  const advice = "code" in one ? ADVICE[String(one.code)] : undefined;
  // The driver's words for it do not say what was waited for.
  if (one.message === "timeout expired") return `The database did not answer. ${IS_IT_THERE}`;
  const said = one.message.replaceAll(/\s*\n\s*/g, "; ");
  return advice === undefined ? said : `${said}${/[.!?]$/.test(said) ? "" : "."} ${advice}`;
}
