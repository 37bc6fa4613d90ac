import * as z from "zod";
import { created, noContent, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { createScorecard } from "../../shared/scorecards/create.ts";
import { removeScorecard } from "../../shared/scorecards/remove.ts";
import { assertScorecardRight } from "../../shared/scorecards/right.ts";
import { ScorecardCreate, ScorecardUpdate } from "../../shared/scorecards/schemas.ts";
import { ScorecardRead } from "../../shared/scorecards/shown.ts";
import { updateScorecard } from "../../shared/scorecards/update.ts";

const tag = "Scorecards";
const params = z.object({ id: z.uuid() });

export const editScorecards = [
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
    located: true,
    problems: ["duplicate_name", "quota_exceeded", "forbidden", "not_found"],
    idempotent: true,
    async handler({ ctx, principal, body }) {
      const scorecard = await createScorecard(ctx, principal, body);
      return created(scorecard, `/api/v1/scorecards/${scorecard.id}`);
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
];
