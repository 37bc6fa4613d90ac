import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { readUsage, UsageRead, usageQuery } from "../../shared/results/usage.ts";

export const usage = [
  route({
    id: "readUsage",
    method: "get",
    path: "/api/v1/usage",
    tag: "Runs",
    summary: "How many runs were asked for, by day, agent or key",
    description:
      "Of the runs that the caller asked for at their own expense; with `team_id`, or by a workspace's key, of those that " +
      "the workspace paid for, whoever asked. `from` and `to` are days by UTC, both included, at most 92. Runs count on " +
      "the day on which they were asked for, also those whose allowance was given back; what came of a run is added when " +
      "it is final. By day, the newest comes first, and days without runs are left out; by agent or key, the most runs " +
      "come first, at most 1,000 rows. `totals` are over all rows.",
    auth: "read",
    subject: "runs",
    query: usageQuery,
    returns: { 200: UsageRead },
    problems: ["not_found"],
    async handler({ ctx, principal, query }) {
      return ok(await readUsage(ctx, principal, query));
    },
  }),
];
