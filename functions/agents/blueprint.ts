import * as z from "zod";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { BlueprintRead, readBlueprint } from "../../shared/results/blueprint.ts";
import { FrontierRead, readFrontier } from "../../shared/board/frontier.ts";
import { BlueprintTimelineRead, readTimeline } from "../../shared/results/timeline.ts";

const tag = "Agents";
const params = z.object({ agent_id: z.uuid() });

export const blueprint = [
  route({
    id: "readBlueprint",
    method: "get",
    path: "/api/v1/agents/{agent_id}/blueprint",
    tag,
    summary: "What an agent is made of, by its telemetry",
    description:
      "Models, tools and calls in the telemetry of the ten most recent ended runs that the caller may see. A call that " +
      "several layers of instrumentation report counts once.",
    auth: "open",
    subject: "agents",
    params,
    returns: { 200: BlueprintRead },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { agent_id } }) {
      return ok(await readBlueprint(ctx, principal, agent_id));
    },
  }),
  route({
    id: "readBlueprintVersions",
    method: "get",
    path: "/api/v1/agents/{agent_id}/blueprint/versions",
    tag,
    summary: "The versions of an agent's architecture, newest first",
    description:
      "The 50 newest versions that are bound to a run which the caller may see, with numbers over such runs alone. Owner " +
      "and members count versions over all runs, everybody else over the public ones.",
    auth: "open",
    subject: "agents",
    params,
    returns: { 200: BlueprintTimelineRead },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { agent_id } }) {
      return ok(await readTimeline(ctx, principal, agent_id));
    },
  }),
  route({
    id: "readFrontier",
    method: "get",
    path: "/api/v1/agents/{agent_id}/frontier",
    tag,
    summary: "An agent's variant group, by pass rate and cost",
    description:
      "The root and its variants, as far as the caller may see them. The numbers are the same for every caller: over the " +
      "last ten counted runs of each task at its current suite version; simulated runs where a member has no other.",
    auth: "open",
    subject: "agents",
    params,
    returns: { 200: FrontierRead },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { agent_id } }) {
      return ok(await readFrontier(ctx, principal, agent_id));
    },
  }),
];
