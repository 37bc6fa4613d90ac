import type { Claims } from "../../../shared/verify/claims.ts";
import { reading } from "../../../shared/verify/reading.ts";
import type { Report } from "../../../shared/verify/trail.ts";
import { type Options, verify as verifyText, verifyRun as verifyRunBy } from "../../../shared/verify/verify.ts";

/** What a verification goes by: the published keys, and what was pinned of the log. */
export interface Grounds {
  /** The text of `/.well-known/jwks.json`. */
  jwks: string;
  /** The log's key, `name+hash+key`, as it was pinned; without it the place in the log is left out. */
  logKey?: string;
  /** The moment at which it has to be in force; now, unless given. */
  now?: Date;
  /**
   * Reads a path of the service, for what is not at hand, and throws `NotThere` where that answers 404, and `Unread` where it
   * gives nothing for now; without it, nothing leaves this machine.
   */
  get?: Options["get"];
  /** What is claimed of the statement. */
  claims?: Claims;
}

/**
 * Verifies a signed statement, a credential, a proof or a checkpoint right here, by WebCrypto. Never throws for what it is
 * given: the report names the step that failed.
 * @example
 * const { verified, failed } = await verify(jws, { jwks: await readFile("keys.json", "utf8") });
 */
export function verify(
  text: string,
  { jwks, logKey, now = new Date(), get = null, claims = {} }: Grounds,
): Promise<Report> {
  return verifyText(text, { jwks, logKey: logKey ?? null, now, get, claims });
}

/**
 * Verifies the evidence of a run: all of it is read from the service at `baseUrl`, and checked here. Pass `logKey` to hold
 * the log to the key that you pinned.
 */
export function verifyRun(
  baseUrl: string,
  runId: string,
  { logKey, now = new Date(), claims = {} }: Pick<Grounds, "logKey" | "now" | "claims"> = {},
): Promise<Report> {
  const get = reading((path, headers) => fetch(baseUrl.replace(/\/+$/, "") + path, { headers }));
  return verifyRunBy(get, runId, { logKey: logKey ?? null, now, claims });
}

export { NotThere } from "../../../shared/verify/log.ts";
export { Unread } from "../../../shared/verify/trail.ts";
export type { Report, Step } from "../../../shared/verify/trail.ts";
