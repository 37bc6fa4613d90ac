import * as z from "zod";
import { pageOf, paged, pageQuery } from "../../shared/http/paging.ts";
import { created, noContent, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { readScorecardBoard } from "../../shared/scorecards/board.ts";
import { createScorecard } from "../../shared/scorecards/create.ts";
import { listScorecards } from "../../shared/scorecards/list.ts";
import { readScorecard } from "../../shared/scorecards/read.ts";
import { removeScorecard } from "../../shared/scorecards/remove.ts";
import { assertScorecardRight } from "../../shared/scorecards/right.ts";
import { ScorecardBoardRow, ScorecardCreate, ScorecardRead, ScorecardUpdate } from "../../shared/scorecards/schemas.ts";
import { TEMPLATES } from "../../shared/scorecards/templates.ts";
import { updateScorecard } from "../../shared/scorecards/update.ts";
import { boardQuery } from "../../shared/board/board.ts";

const tag = "Scorecards";
const params = z.object({ id: z.uuid() });
const ScorecardBoard = pageOf(ScorecardBoardRow, "ScorecardBoard")
  .extend({
    total_is_capped: z
      .literal(true)
      .optional()
      .meta({ description: "The board has more rows than `total`; those behind its first ones have no place here" }),
  })
  .meta({ id: "ScorecardBoard" });
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
    id: "createScorecard",
    method: "post",
    path: "/api/v1/scorecards",
    tag,
    summary: "Create a scorecard",
    description:
      "A named weighting over the five axes, of the caller or of a workspace in which the caller is at least an editor; " +
      "every member sees the workspace's. At most 50 for an account and for each workspace.",
    auth: "scoped",
    subject: "scorecards",
    body: ScorecardCreate,
    returns: { 201: ScorecardRead },
    problems: ["duplicate_name", "quota_exceeded", "forbidden", "not_found"],
    idempotent: true,
    async handler({ ctx, principal, body }) {
      const scorecard = await createScorecard(ctx, principal, body);
      return created(scorecard, `/api/v1/scorecards/${scorecard.id}`);
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
  route({
    id: "updateScorecard",
    method: "patch",
    path: "/api/v1/scorecards/{id}",
    tag,
    summary: "Change a scorecard",
    description:
      "Changes the fields that are given. `weights` replaces all five: an axis that is not named gets 0. A template " +
      "is 403.",
    auth: "scoped",
    subject: "scorecards",
    params,
    body: ScorecardUpdate,
    right: ({ ctx, principal, params: { id } }) => assertScorecardRight(ctx, principal, id),
    returns: { 200: ScorecardRead },
    problems: ["not_found", "forbidden", "duplicate_name"],
    async handler({ ctx, principal, params: { id }, body }) {
      return ok(await updateScorecard(ctx, principal, id, body));
    },
  }),
  route({
    id: "deleteScorecard",
    method: "delete",
    path: "/api/v1/scorecards/{id}",
    tag,
    summary: "Delete a scorecard",
    description: "Deletes it for good; deleting it again is 404. A template is 403.",
    auth: "scoped",
    subject: "scorecards",
    params,
    right: ({ ctx, principal, params: { id } }) => assertScorecardRight(ctx, principal, id),
    returns: { 204: null },
    problems: ["not_found", "forbidden"],
    async handler({ ctx, principal, params: { id } }) {
      await removeScorecard(ctx, principal, id);
      return noContent();
    },
  }),
  route({
    id: "readScorecardBoard",
    method: "get",
    path: "/api/v1/scorecards/{id}/board",
    tag,
    summary: "The public board, ranked by a scorecard",
    description:
      "The rows of the public board with `scorecard_score`, 100 × the weighted sum of the axes; an axis without evidence " +
      "counts 0 and is named in `missing_axes`. Ranked agents come before provisional and those before simulated ones, as " +
      "on the public board; each kind is ordered by `scorecard_score`, then by `runs`, then by id, and `rank` is the place " +
      "in this order. Only the caller's view: no stored or public score changes. A board of more than 5,000 rows is " +
      "ranked anew over its first 5,000; `total` is that then, with `total_is_capped`.",
    auth: "scoped",
    subject: "scorecards",
    params,
    query: pageQuery.extend(boardQuery.shape),
    returns: { 200: ScorecardBoard },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { id }, query }) {
      return ok(paged(await readScorecardBoard(ctx, principal, id, query), query));
    },
  }),
];
