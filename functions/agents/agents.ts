import * as z from "zod";
import { createAgent } from "../../shared/agents/create.ts";
import { AGENT_SORTS, listAgents } from "../../shared/agents/list.ts";
import { readAgent } from "../../shared/agents/read.ts";
import { removeAgent } from "../../shared/agents/remove.ts";
import { assertAgentRight } from "../../shared/agents/right.ts";
import { AgentCreate, AgentUpdate } from "../../shared/agents/schemas.ts";
import { AgentRead } from "../../shared/agents/shown.ts";
import { updateAgent } from "../../shared/agents/update.ts";
import { toAgentRead } from "../../shared/agents/view.ts";
import { revokeFor } from "../../shared/certification/revoke.ts";
import { longPageOf, nameSearch, paged, pageQuery } from "../../shared/http/paging.ts";
import { created, noContent, ok, type Reply } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { ScreeningSessionRead } from "../../shared/runs/schemas.ts";
import { listSessions } from "../../shared/runs/sessions.ts";
import { AgentStats, readStats } from "../../shared/results/stats.ts";

const tag = "Agents";
const params = z.object({ agent_id: z.uuid() });

/** What the answer shows depends on the caller, so no cache in between may keep it. */
export function privately(reply: Reply): Reply {
  return {
    ...reply,
    headers: { ...reply.headers, "Cache-Control": "private, no-store", Vary: "Authorization, Cookie" },
  };
}

export const agents = [
  route({
    id: "listAgents",
    method: "get",
    path: "/api/v1/agents",
    tag,
    summary: "Own agents, or the public ones",
    description: "Signed in: the caller's own agents, of any visibility. Otherwise the public ones.",
    auth: "open",
    subject: "agents",
    query: pageQuery.extend({
      scope: z.literal("personal").optional(),
      team_id: z.uuid().optional(),
      active_only: z.stringbool().default(true),
      q: nameSearch,
      sort: z.enum(AGENT_SORTS).default("-created_at").meta({ description: "By name in any case, letter by letter" }),
    }),
    returns: { 200: longPageOf(AgentRead, "AgentListResponse") },
    problems: ["conflicting_parameters", "unauthenticated", "not_found"],
    async handler({ ctx, principal, query }) {
      const page = await listAgents(ctx, principal, query);
      return privately(ok(paged({ ...page, items: page.items.map(toAgentRead) }, query)));
    },
  }),
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
    id: "readAgent",
    method: "get",
    path: "/api/v1/agents/{agent_id}",
    tag,
    summary: "One agent",
    description: "A private agent is 404 for everybody but its owner and the members of its workspace.",
    auth: "open",
    subject: "agents",
    params,
    returns: { 200: AgentRead },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { agent_id } }) {
      return privately(ok(toAgentRead(await readAgent(ctx, principal, agent_id))));
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
  route({
    id: "readAgentStats",
    method: "get",
    path: "/api/v1/agents/{agent_id}/stats",
    tag,
    summary: "An agent's record",
    description: "Over the runs that the caller may see; runs that failed by our fault are left out.",
    auth: "open",
    subject: "agents",
    params,
    returns: { 200: AgentStats },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { agent_id } }) {
      return ok(await readStats(ctx, principal, agent_id));
    },
  }),
  route({
    id: "listAgentSessions",
    method: "get",
    path: "/api/v1/agents/{agent_id}/screening-sessions",
    tag,
    summary: "An agent's screening sessions, newest first",
    auth: "open",
    subject: "runs",
    params,
    query: pageQuery.extend({
      suite_id: z.uuid().optional().meta({ description: "Those that were asked for by this suite, and not by tasks" }),
    }),
    returns: { 200: longPageOf(ScreeningSessionRead, "ScreeningSessionPage") },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { agent_id }, query }) {
      return ok(paged(await listSessions(ctx, principal, agent_id, query), query));
    },
  }),
];
