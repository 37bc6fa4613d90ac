import * as z from "zod";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { AgentComparison, compareAgents, comparisonQuery } from "../../shared/board/compare.ts";
import { AgentComparisons } from "../../shared/board/compare-all.ts";

export const compare = [
  route({
    id: "compareAgents",
    method: "get",
    path: "/api/v1/agents/compare",
    tag: "Agents",
    summary: "Agents over the same tasks",
    description:
      "Over the tasks at which both have scored runs: the last ten of each task at its current suite version, as on " +
      "the board. The sign of the difference says which of the two is better; the p-value and the interval say how " +
      "certain that is. `a` and `b` give an AgentComparison. `agent_ids` gives AgentComparisons, each agent with each: " +
      "of many pairs some look different by chance alone, so go by `p_adjusted` there. Each agent has " +
      "with it what the board marks of its success, `memorised` and `uneven`: no p-value knows of luck that was picked.",
    auth: "open",
    subject: "agents",
    query: comparisonQuery,
    returns: { 200: z.union([AgentComparison, AgentComparisons]) },
    problems: ["not_found", "conflicting_parameters"],
    cache: "board",
    async handler({ ctx, principal, query }) {
      return ok(await compareAgents(ctx, principal, query));
    },
  }),
];
