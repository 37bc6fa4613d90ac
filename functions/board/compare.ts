import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { AgentComparison, compareAgents, comparisonQuery } from "../../shared/board/compare.ts";

export const compare = [
  route({
    id: "compareAgents",
    method: "get",
    path: "/api/v1/agents/compare",
    tag: "Agents",
    summary: "Two agents over the same tasks",
    description:
      "Over the tasks at which both have scored runs: the last ten of each task at its current suite version, as on " +
      "the board. The sign of the difference says which of the two is better; the p-value and the interval say how " +
      "certain that is.",
    auth: "open",
    query: comparisonQuery,
    returns: { 200: AgentComparison },
    problems: ["not_found"],
    cache: "board",
    async handler({ ctx, principal, query }) {
      return ok(await compareAgents(ctx, principal, query));
    },
  }),
];
