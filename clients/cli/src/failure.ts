import { ServiceError } from "../../typescript/src/problem.ts";

/** What the exit codes say. */
export const EXIT = { fine: 0, failed: 1, usage: 2, service: 3, notAllowed: 4 } as const;

/** Why a command ends early; the message says what to do next. */
export class Failure extends Error {
  readonly exit: number;

  constructor(exit: number, message: string) {
    super(message);
    this.exit = exit;
  }
}

const WHERE = "--url or AGENT_SCREENING_URL says where the service is.";
const NOT_ALLOWED = new Set([401, 402, 403]);
const HINTS: Readonly<Record<string, string>> = {
  unauthenticated:
    "Sign in with `agent-screening login`, or set AGENT_SCREENING_KEY to an API key of your settings page.",
  insufficient_scope: "Make a key that has it on the settings page, and sign in with that.",
  quota_exceeded: "Wait for the next month, take fewer repeats, or change the plan on the settings page.",
  rate_limited: "Wait a moment, or raise the key's quota on the settings page.",
  endpoint_not_allowed: "The service calls public https addresses only; on this machine, take `agent-screening dev`.",
};

/** The exit code of an error, and what to print of it. */
export function explained(error: unknown): { exit: number; text: string } {
  if (error instanceof Failure) return { exit: error.exit, text: error.message };
  if (error instanceof ServiceError) {
    const hint = HINTS[error.code];
    const text = [error.message, ...(hint === undefined ? [] : [hint])];
    if ((error.status >= 300 && error.status < 400) || error.code === "unknown") text.push(WHERE);
    if (error.requestId !== undefined) text.push(`(request ${error.requestId})`);
    return { exit: exitOf(error.status), text: text.join("\n") };
  }
  if (!(error instanceof Error)) return { exit: EXIT.service, text: String(error) };
  if ("code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"))
    return { exit: EXIT.usage, text: error.message };
  return { exit: EXIT.service, text: error.message };
}

/** Sends a request; where no answer comes, the error says what to look at. */
export async function reach(request: Request): Promise<Response> {
  const isByProxy = await (routed ??= routeByProxy(process.env));
  try {
    return await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    const { origin, hostname } = new URL(request.url);
    const cause = innermost(error);
    const why = cause instanceof Error ? cause.message || cause.name : String(cause);
    const ofProxy =
      isByProxy === false ? [NO_PROXY_TAKEN] : isByProxy === true && !HERE.has(hostname) ? [BY_PROXY] : [];
    const advice = [adviceOn(cause), ...ofProxy];
    throw new Failure(EXIT.service, [`${origin} does not answer: ${why}`, ...advice].join("\n"));
  }
}

/** What an error comes from in the end: a proxy's refusal is the cause of an aborted request, which is that of a failed one. */
function innermost(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? innermost(error.cause) : error;
}

/** This machine, to which no proxy leads. */
const HERE = new Set(["localhost", "127.0.0.1", "[::1]"]);

const BY_PROXY =
  "It is asked by the proxy that HTTPS_PROXY or HTTP_PROXY names, unless NO_PROXY lists it: does that answer, and let this through?";

const NO_PROXY_TAKEN =
  "The proxy that HTTPS_PROXY or HTTP_PROXY names is not used: that takes an address with http:// before it, and Node 24.14, " +
  "or 22.21 with NODE_USE_ENV_PROXY=1.";

/** By a certificate that this machine has no reason to trust, as of a company's own authority. */
const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY)/;

function adviceOn(cause: unknown): string {
  return cause instanceof Error && "code" in cause && UNTRUSTED.test(String(cause.code))
    ? "Of an authority of your own, NODE_EXTRA_CA_CERTS names a file with the certificate."
    : `Is it running, and the address right? ${WHERE}`;
}

let routed: Promise<boolean | null> | undefined;

/**
 * Has requests go by the proxy that the environment names, as other programs do: Node looks at it where it is told to alone.
 * A service on this machine needs none. Resolves to whether they do; null where none is named.
 */
async function routeByProxy(env: NodeJS.ProcessEnv): Promise<boolean | null> {
  const named = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"].some((name) => (env[name] ?? "") !== "");
  if (!named) return null;
  if ((env["NODE_USE_ENV_PROXY"] ?? "") === "1") return true;
  const http = await import("node:http");
  const without = [env["no_proxy"] || env["NO_PROXY"], [...HERE].join()].filter(Boolean).join();
  try {
    // Older versions of Node have no such function.
    http.setGlobalProxyFromEnv({ ...env, no_proxy: without, NO_PROXY: without });
    return true;
  } catch {
    return false;
  }
}

function exitOf(status: number): number {
  if (NOT_ALLOWED.has(status)) return EXIT.notAllowed;
  return status === 429 || status >= 500 || status < 400 ? EXIT.service : EXIT.usage;
}
