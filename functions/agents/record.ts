import * as z from "zod";
import { longPageOf, paged, pageQuery } from "../../shared/http/paging.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { AgentStats, readStats } from "../../shared/results/stats.ts";
import { ScreeningSessionRead } from "../../shared/runs/sessions-shown.ts";
import { listSessions } from "../../shared/runs/sessions.ts";

const tag = "Agents";
const params = z.object({ agent_id: z.uuid() });

export const agentRecord = [
  route({
    id: "readAgentStats",
    method: "get",
    path: "/api/v1/agents/{agent_id}/stats",
    tag,
    summary: "An agent's record",
    description:
      "Over the runs that the caller may see: real ones, or simulated ones alone until a real one has ended. Canaries, and runs " +
      "that failed by our fault, are left out.",
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
