import * as z from "zod";
import { assertAgentRight } from "../../shared/agents/right.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { checkReadiness, readReadiness } from "../../shared/runs/readiness.ts";
import { AgentReadiness } from "../../shared/runs/readiness-shown.ts";

const tag = "Agents";
const params = z.object({ agent_id: z.uuid() });

export const readiness = [
  route({
    id: "readAgentReadiness",
    method: "get",
    path: "/api/v1/agents/{agent_id}/readiness",
    tag,
    summary: "Whether an agent can be reached, and sends telemetry",
    description:
      "For those who may run the agent. A result is valid for an hour, unless the agent is changed before; it " +
      "describes that moment and promises nothing. Missing telemetry does not stop a screening.",
    auth: "read",
    subject: "agents",
    params,
    returns: { 200: AgentReadiness },
    problems: ["not_found", "forbidden"],
    async handler({ ctx, principal, params: { agent_id } }) {
      return ok(await readReadiness(ctx, principal, agent_id));
    },
  }),
  route({
    id: "checkAgentReadiness",
    method: "post",
    path: "/api/v1/agents/{agent_id}/readiness/check",
    tag,
    summary: "Check an agent's endpoint now",
    description:
      "Sends the endpoint one signed request with a tiny task and waits up to 10 seconds; no run is made and no " +
      "allowance taken. A `mock` agent has nothing to check. If our own DNS resolver fails, nothing is sent or " +
      "stored, and the answer is 503 `dependency_unavailable`, which says nothing about the agent. An API key of " +
      "either scope is enough, since the agent is not changed.",
    auth: "read",
    subject: "agents",
    limit: "write",
    params,
    right: ({ ctx, principal, params: { agent_id } }) => assertAgentRight(ctx, "run", principal, agent_id),
    returns: { 200: AgentReadiness },
    problems: ["not_found", "forbidden", "agent_inactive", "provider_custody_retired"],
    async handler({ ctx, principal, params: { agent_id } }) {
      return ok(await checkReadiness(ctx, principal, agent_id));
    },
  }),
];
