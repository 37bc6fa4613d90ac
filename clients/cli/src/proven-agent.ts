import { failsSurely, isOfTestAlone, type Tried, triedFirst } from "../../../shared/runs/tried-first.ts";
import type { components } from "../../typescript/src/generated/service.ts";
import { given, ServiceError } from "../../typescript/src/problem.ts";
import type { Agent, By } from "./agent.ts";
import { EXIT, Failure } from "./failure.ts";
import { note, plain } from "./terminal.ts";

type Connection = components["schemas"]["ConnectionTest"];

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
    tried = await triedFirst(call);
  } catch (error) {
    if (!(error instanceof ServiceError) || !isOfTestAlone(error.status)) throw error;
    note(terminal, `The agent was not tested first: ${error.message}`);
    return;
  }
  const { failure_code, detail } = tried;
  if (failure_code === null) return;
  const what = `${plain("name" in agent ? agent.name : agent.endpoint)} fails a test: ${failure_code}`;
  const why = detail == null ? what : `${what}\n${plain(detail)}`;
  if (!failsSurely(tried)) return note(terminal, `${why}\nIt is screened all the same: it may do better at a task.`);
  const how =
    "It would fail each run so, and none is spent. Wait until it is up, or mend it; --skip-test screens it as it is.";
  throw new Failure(EXIT.failed, `${why}\n${how}`);
}
