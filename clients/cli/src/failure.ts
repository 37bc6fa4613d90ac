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
    if (error.status >= 300 && error.status < 400) text.push(WHERE);
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
  try {
    return await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    const { origin } = new URL(request.url);
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const why = cause instanceof Error ? cause.message || cause.name : String(cause);
    throw new Failure(
      EXIT.service,
      `${origin} does not answer: ${why}\nIs it running, and the address right? ${WHERE}`,
    );
  }
}

function exitOf(status: number): number {
  if (NOT_ALLOWED.has(status)) return EXIT.notAllowed;
  return status === 429 || status >= 500 || status < 400 ? EXIT.service : EXIT.usage;
}
