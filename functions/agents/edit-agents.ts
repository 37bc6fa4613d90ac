import * as z from "zod";
import { createAgent } from "../../shared/agents/create.ts";
import { removeAgent } from "../../shared/agents/remove.ts";
import { assertAgentRight } from "../../shared/agents/right.ts";
import { AgentCreate, AgentUpdate } from "../../shared/agents/schemas.ts";
import { AgentRead } from "../../shared/agents/shown.ts";
import { updateAgent } from "../../shared/agents/update.ts";
import { toAgentRead } from "../../shared/agents/view.ts";
import { revokeFor } from "../../shared/certification/revoke.ts";
import { created, noContent, ok, privately } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";

const tag = "Agents";
const params = z.object({ agent_id: z.uuid() });

export const editAgents = [
  route({
    id: "createAgent",
    method: "post",
    path: "/api/v1/agents",
    tag,
    summary: "Create an agent",
    description:
      "With an `endpoint` it is called live; without one it is a simulated `mock`. The endpoint is https on port 443 " +
      "or 8443 of a public name whose every address is public. Names are unique among an owner's active agents, " +
      "ignoring case.",
    auth: "write",
    subject: "agents",
    body: AgentCreate,
    returns: { 201: AgentRead },
    located: true,
    problems: [
      "duplicate_name",
      "quota_exceeded",
      "endpoint_not_allowed",
      "invalid_variant",
      "provider_custody_retired",
      "forbidden",
      "not_found",
    ],
    idempotent: true,
    async handler({ ctx, principal, body }) {
      const agent = await createAgent(ctx, principal, body);
      return created(toAgentRead(agent), `/api/v1/agents/${agent.id}`);
    },
  }),
  route({
    id: "updateAgent",
    method: "patch",
    path: "/api/v1/agents/{agent_id}",
    tag,
    summary: "Change an agent",
    description:
      "Changes the fields that are given. An agent of a retired mode answers 410 until `clear_customer_llm_key` is true; " +
      "then it can be connected again.",
    auth: "write",
    subject: "agents",
    params,
    body: AgentUpdate,
    right: ({ ctx, principal, params: { agent_id } }) => assertAgentRight(ctx, "edit", principal, agent_id),
    returns: { 200: AgentRead },
    problems: [
      "not_found",
      "forbidden",
      "duplicate_name",
      "quota_exceeded",
      "endpoint_not_allowed",
      "invalid_variant",
      "provider_custody_retired",
    ],
    async handler({ ctx, principal, params: { agent_id }, body }) {
      return privately(ok(toAgentRead(await updateAgent(ctx, principal, agent_id, body, revokeFor))));
    },
  }),
  route({
    id: "deleteAgent",
    method: "delete",
    path: "/api/v1/agents/{agent_id}",
    tag,
    summary: "Deactivate an agent and discard its credentials",
    description: "Its runs and evidence stay. Doing it again changes nothing.",
    auth: "write",
    subject: "agents",
    params,
    right: ({ ctx, principal, params: { agent_id } }) => assertAgentRight(ctx, "edit", principal, agent_id),
    returns: { 204: null },
    problems: ["not_found", "forbidden"],
    async handler({ ctx, principal, params: { agent_id } }) {
      await removeAgent(ctx, principal, agent_id);
      return noContent();
    },
  }),
];
