import type { components } from "../../typescript/src/generated/service.ts";
import { given, ServiceError } from "../../typescript/src/problem.ts";
import type { Agent, By } from "./agent.ts";
import { EXIT, Failure } from "./failure.ts";
import { note, plain } from "./terminal.ts";

type Connection = components["schemas"]["ConnectionTest"];

/**
 * What each run would end with as well. One that is slow, or says that it failed, may do better at a task: it is given longer, and
 * has something to do.
 */
const SURE = new Set([
  "agent_unreachable",
  "agent_tls_error",
  "agent_http_error",
  "agent_redirected",
  "agent_invalid_response",
  "agent_response_too_large",
  "endpoint_not_allowed",
]);

/** What came of a call. */
interface Tried {
  failure_code: string | null;
  /** What happened and what mends it; none from a service that is older than this. */
  detail?: string | null;
}

/**
 * Has the service call an agent, or an endpoint that belongs to none yet, with a tiny task: as each run does, and before any is
 * spent. What the service does not test, for this key or at all, is not held against the agent.
 * @throws Failure where it fails twice, by what is sure to fail the runs
 */
export async function provenToAnswer(
  { client, terminal }: By,
  agent: Agent | Connection,
  signal: AbortSignal,
): Promise<void> {
  const call = () => ("id" in agent ? ofAgent(agent) : given(testOf(agent)));
  const testOf = (body: Connection) => client.POST("/api/v1/integrations/test-connection", { body, signal });
  // Called as the service knows it, with the header whose value it alone has.
  const ofAgent = async ({ id: agent_id }: Agent): Promise<Tried> => {
    const params = { path: { agent_id } };
    const { endpoint } = await given(client.POST("/api/v1/agents/{agent_id}/readiness/check", { params, signal }));
    return endpoint.state === "failing" ? endpoint : { failure_code: null };
  };
  let tried: Tried;
  try {
    tried = await call();
    // Once more: one call in many may fail of an agent that passes most of its runs.
    if (isSure(tried)) tried = await call();
  } catch (error) {
    if (!(error instanceof ServiceError) || !isOfTest(error)) throw error;
    note(terminal, `The agent was not tested first: ${error.message}`);
    return;
  }
  const { failure_code, detail } = tried;
  if (failure_code === null) return;
  const what = `${plain("name" in agent ? agent.name : agent.endpoint)} fails a test: ${failure_code}`;
  const why = detail == null ? what : `${what}\n${plain(detail)}`;
  if (!isSure(tried)) return note(terminal, `${why}\nIt is screened all the same: it may do better at a task.`);
  const how =
    "It would fail each run so, and none is spent. Wait until it is up, or mend it; --skip-test screens it as it is.";
  throw new Failure(EXIT.failed, `${why}\n${how}`);
}

/** Whether it is the test alone that is refused or can't be made. What else is refused would be of the screening, too. */
function isOfTest({ status }: ServiceError): boolean {
  return status === 403 || status === 404 || status === 405 || status === 429 || status >= 500;
}

function isSure({ failure_code }: Tried): boolean {
  return failure_code !== null && SURE.has(failure_code);
}
