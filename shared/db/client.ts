import { neon, NeonDbError, neonConfig } from "@neondatabase/serverless";
import { DrizzleQueryError } from "drizzle-orm";
import { drizzle } from "drizzle-orm/neon-http";
import type { Database } from "../platform/context.ts";
import { patiently } from "../platform/patience.ts";
import type { Steps } from "../platform/steps.ts";

/** Well inside the 30 seconds after which a caller must have its 503. */
const QUERY_TIMEOUT_MS = 12_000;
/** The status of an answer in which PostgreSQL says what is wrong with a statement. */
const REFUSED = 400;

/**
 * A database handle for `url`; `localProxy` is the origin of a local server that speaks the driver's protocol. What is made of
 * an answer takes the isolate a while, in which it sees to nothing else: with `steps` each answer waits for its turn, and
 * between two of them is seen to what has arrived.
 */
export function createDatabase(url: string, localProxy: string | undefined, steps?: Steps): Database {
  neonConfig.fetchFunction = (target: string, { steps: inSteps, ...init }: RequestInit & { steps?: Steps }) =>
    patiently(QUERY_TIMEOUT_MS, async (signal) => {
      const { ok, status, body } = await ask(target, { ...init, signal });
      await inSteps?.next();
      // Parsed here: what the driver does not get to read it takes for a database that does not answer.
      const answer = ok || status === REFUSED ? parsed(body) : null;
      return { ok, status, json: async () => answer, text: async () => body };
    });
  if (localProxy !== undefined) neonConfig.fetchEndpoint = () => `${localProxy}/sql`;
  return drizzle(neon(url, steps === undefined ? {} : { fetchOptions: { steps } }));
}

/** The JSON of an answer; an error that says nothing of it where it was cut off, or comes from something else on the way. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new Error("the answer can't be read");
  }
}

/** Reads the whole answer at once: the time limit holds until its last byte. */
async function ask(target: string, init: RequestInit): Promise<{ ok: boolean; status: number; body: string }> {
  const answer = await fetch(target, init);
  return { ok: answer.ok, status: answer.status, body: await answer.text() };
}

/** What PostgreSQL said about a failed statement. */
export interface DatabaseFailure {
  /** SQLSTATE, or null when the database could not be reached or did not answer. */
  code: string | null;
  constraint: string | null;
}

/** Reads a failure of the driver, single query or batch; null for any other error. */
export function databaseFailure(error: unknown): DatabaseFailure | null {
  const cause = error instanceof DrizzleQueryError ? error.cause : error;
  if (!(cause instanceof Error)) return null;
  if (!(cause instanceof NeonDbError))
    return error instanceof DrizzleQueryError ? { code: null, constraint: null } : null;
  const { code = "", constraint = null } = cause;
  // Neon's proxy names an empty one where PostgreSQL said nothing, as when the connection to it broke.
  return { code: code === "" ? null : code, constraint };
}

/** The classes of SQLSTATE that tell of what a statement works on, not of the server, the schema or other transactions. */
const OF_DATA = /^(?:21|22|23|27|44|54|P0|XX)/;

/** Whether the database refused the data: then one item or row of several may be at fault, and the others go without it. */
export function refusesData(error: unknown): boolean {
  return OF_DATA.test(databaseFailure(error)?.code ?? "");
}

/** Whether the database could not take what it was given, for no reason that lies in it: the same may be taken later. */
export function isOurFault(error: unknown): boolean {
  return databaseFailure(error) !== null && !refusesData(error);
}

/** Whether no answer came within the time limit, be it that it was too much to do at once. */
export function tookTooLong(error: unknown): boolean {
  const cause = error instanceof DrizzleQueryError ? error.cause : error;
  return cause instanceof NeonDbError && cause.sourceError?.name === "TimeoutError";
}

/** What went wrong, for the log: of a failed statement what PostgreSQL said, and never the statement's parameters. */
export function describeError(error: unknown): string {
  const cause = error instanceof DrizzleQueryError ? error.cause : error;
  if (!(cause instanceof Error)) return "unknown";
  const code = databaseFailure(error)?.code;
  return `${code == null ? "" : `${code} `}${cause.name}: ${cause.message}`.slice(0, 500);
}
