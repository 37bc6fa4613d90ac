import * as z from "zod";
import { paged, pageOf, pageQuery } from "../../shared/http/paging.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { listScorecards } from "../../shared/scorecards/list.ts";
import { readScorecard } from "../../shared/scorecards/read.ts";
import { ScorecardRead } from "../../shared/scorecards/shown.ts";
import { TEMPLATES } from "../../shared/scorecards/templates.ts";

const tag = "Scorecards";
const params = z.object({ id: z.uuid() });
const ScorecardPage = pageOf(ScorecardRead, "ScorecardPage");

export const scorecards = [
  route({
    id: "listScorecardTemplates",
    method: "get",
    path: "/api/v1/scorecards/templates",
    tag,
    summary: "The starter templates",
    description:
      "Balanced Screen, Cost-Conscious Ops, Mission-Critical Reliability and Real-Time Experience, with ids that " +
      "never change. Everybody can read them and rank by them as with any scorecard, and nobody can change them.",
    auth: "scoped",
    subject: "scorecards",
    query: pageQuery,
    returns: { 200: ScorecardPage },
    handler({ query }) {
      const { page, page_size: size } = query;
      const items = TEMPLATES.slice((page - 1) * size, page * size);
      return ok(paged({ items, total: TEMPLATES.length }, query));
    },
  }),
  route({
    id: "listScorecards",
    method: "get",
    path: "/api/v1/scorecards",
    tag,
    summary: "The caller's scorecards",
    description:
      "The caller's own and those of the caller's workspaces, newest first; `team_id` narrows them to one workspace. The " +
      "templates are not among them.",
    auth: "scoped",
    subject: "scorecards",
    query: pageQuery.extend({ team_id: z.uuid().optional() }),
    returns: { 200: ScorecardPage },
    problems: ["not_found"],
    async handler({ ctx, principal, query }) {
      return ok(paged(await listScorecards(ctx, principal, query), query));
    },
  }),
  route({
    id: "readScorecard",
    method: "get",
    path: "/api/v1/scorecards/{id}",
    tag,
    summary: "One scorecard, or a template",
    auth: "scoped",
    subject: "scorecards",
    params,
    returns: { 200: ScorecardRead },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { id } }) {
      return ok(await readScorecard(ctx, principal, id));
    },
  }),
];
