import type { ScreeningClient } from "../../typescript/src/client.ts";
import type { components } from "../../typescript/src/generated/service.ts";
import { given, ServiceError } from "../../typescript/src/problem.ts";
import { authHeaderOf } from "./auth-header.ts";
import { protocolOf } from "./commands/test.ts";
import { EXIT, Failure } from "./failure.ts";
import { provenToAnswer } from "./proven-agent.ts";
import { plain, type Terminal } from "./terminal.ts";
import { UUID } from "./words.ts";

export type Agent = components["schemas"]["AgentRead"];

/** By what an agent is asked for. */
export interface By {
  client: ScreeningClient;
  terminal: Terminal;
}

/** What was named of an agent besides its id or its endpoint. */
interface Named {
  name?: string | undefined;
  protocol?: string | undefined;
  "auth-header"?: string | undefined;
}

/**
 * The agent of that id, or the caller's own one at that endpoint; it is registered where there is none. With `tested` it is
 * called first, a new one before it is registered.
 * @throws Failure where it surely fails each run
 */
export async function agentOf(
  by: By,
  target: string,
  { name, protocol, "auth-header": header }: Named,
  tested?: { signal: AbortSignal },
): Promise<Agent> {
  const { client, terminal } = by;
  const agent_protocol = protocolOf(protocol);
  const called: Called = { agent_protocol, header };
  const known = async (agent: Agent): Promise<Agent> => {
    asCalled(called, agent);
    if (tested !== undefined) await provenToAnswer(by, agent, tested.signal);
    return agent;
  };
  if (UUID.test(target)) {
    const path = { agent_id: target };
    return known(await given(client.GET("/api/v1/agents/{agent_id}", { params: { path } })));
  }
  if (!URL.canParse(target))
    throw new Failure(EXIT.usage, `${JSON.stringify(target)} is neither an agent's id nor the URL of an endpoint.`);
  const endpoint = new URL(target);
  const found = await agentAt(client, endpoint);
  if (found !== undefined) return known(found);
  const auth_header = await authHeaderOf(header, terminal);
  const connection = {
    endpoint: target,
    ...(agent_protocol === undefined ? {} : { agent_protocol }),
    ...(auth_header === undefined ? {} : { auth_header }),
  };
  if (tested !== undefined) await provenToAnswer(by, connection, tested.signal);
  const body = { name: name ?? `${endpoint.host}${endpoint.pathname === "/" ? "" : endpoint.pathname}`, ...connection };
  try {
    const { id: agent_id } = await given(client.POST("/api/v1/agents", { body }));
    return await given(client.GET("/api/v1/agents/{agent_id}", { params: { path: { agent_id } } }));
  } catch (error) {
    // Another job may have registered it meanwhile: of several that begin at once, only the first can.
    const isTaken = error instanceof ServiceError && error.code === "duplicate_name";
    const other = isTaken ? await agentAt(client, endpoint) : undefined;
    if (other === undefined) throw error;
    asCalled(called, other);
    return other;
  }
}

/** How an agent is to be called, as far as that was named. */
interface Called {
  agent_protocol: ReturnType<typeof protocolOf>;
  header: string | undefined;
}

/** @throws Failure where the agent is called in another way than was named: each of its runs would be spent on that */
function asCalled({ agent_protocol: protocol, header }: Called, agent: Agent): void {
  const { id, name, agent_protocol, auth_header_name } = agent;
  const refuse = (option: string, has: string, named: string) => {
    throw new Failure(
      EXIT.usage,
      `${plain(name)} is called ${has}, not ${named}: --${option} is of a new agent. Change that of this one at ` +
        `/agents/${id}/edit, or leave --${option} out.`,
    );
  };
  if (protocol !== undefined && protocol !== agent_protocol)
    refuse("protocol", `by ${agent_protocol}`, `by ${protocol}`);
  if (header !== undefined && header.toLowerCase() !== auth_header_name?.toLowerCase())
    refuse("auth-header", auth_header_name == null ? "without a header" : `with ${auth_header_name}`, `with ${header}`);
}

async function agentAt(client: ScreeningClient, { href: endpoint }: URL): Promise<Agent | undefined> {
  const query = { endpoint, page_size: 1 };
  try {
    return (await given(client.GET("/api/v1/agents", { params: { query } }))).items[0];
  } catch (error) {
    // A service that is older than this finds none by its endpoint: all are looked through.
    if (!(error instanceof ServiceError) || error.code !== "unrecognized_parameter") throw error;
  }
  for await (const agent of client.each("/api/v1/agents")) if (agent.endpoint === endpoint) return agent;
  return undefined;
}
