import * as z from "zod";
import { AGENT_SORTS, listAgents } from "../../shared/agents/list.ts";
import { readAgent } from "../../shared/agents/read.ts";
import { AgentRead } from "../../shared/agents/shown.ts";
import { toAgentRead } from "../../shared/agents/view.ts";
import { longPageOf, nameSearch, paged, pageQuery } from "../../shared/http/paging.ts";
import { ok, privately } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";

const tag = "Agents";
const params = z.object({ agent_id: z.uuid() });

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
      endpoint: z.url().max(2048).optional().meta({ description: "Those alone that are called at this URL" }),
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
];
