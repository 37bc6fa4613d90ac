import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { estimateQuery, ScreeningPreflightRead } from "../../shared/runs/preflight-shown.ts";
import { readPreflight } from "../../shared/runs/preflight.ts";

export const preflight = [
  route({
    id: "readPreflight",
    method: "get",
    path: "/api/v1/runs/preflight",
    tag: "Runs",
    summary: "What bounds a screening",
    description: "With `width` also how many repeats bring the 95% interval of a success rate down to it.",
    auth: "open",
    subject: "runs",
    query: estimateQuery,
    returns: { 200: ScreeningPreflightRead },
    problems: ["not_found"],
    cache: "catalogue",
    async handler({ ctx, principal, query }) {
      // An agent's record changes with its runs, not with the catalogue.
      const headers: Record<string, string> = query.agent_id === undefined ? {} : { "Cache-Control": "no-store" };
      return ok(await readPreflight(ctx, principal, query), headers);
    },
  }),
];
