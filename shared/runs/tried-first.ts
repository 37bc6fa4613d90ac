import type { FailureCode } from "./answer.ts";

/**
 * What each run would end with as well. One that is slow, or says that it failed, may do better at a task: it is given longer, and
 * has something to do.
 */
const SURE: ReadonlySet<string> = new Set<FailureCode>([
  "agent_unreachable",
  "agent_tls_error",
  "agent_http_error",
  "agent_redirected",
  "agent_invalid_response",
  "agent_response_too_large",
  "endpoint_not_allowed",
]);

/** What came of calling an agent with a tiny task, by a readiness check or a connection test. */
export interface Tried {
  failure_code: string | null;
  /** What happened and what mends it; none from a service that is older than this. */
  detail?: string | null;
}

/** Whether an agent of which a call came to this would fail each run so. */
export function failsSurely({ failure_code }: Tried): boolean {
  return failure_code !== null && SURE.has(failure_code);
}

/**
 * What came of calling an agent before runs are spent on it. It is called once more where it failed by what is sure: one call in
 * many may fail of an agent that passes most of its runs.
 */
export async function triedFirst(call: () => Promise<Tried>): Promise<Tried> {
  const tried = await call();
  return failsSurely(tried) ? call() : tried;
}

/**
 * Whether a status says that it is the test alone that is refused or can't be made, which is not held against the agent. What else
 * is refused would be of the screening, too.
 */
export function isOfTestAlone(status: number): boolean {
  return status === 403 || status === 404 || status === 405 || status === 429 || status >= 500;
}
