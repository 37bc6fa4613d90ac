import * as z from "zod";
import { created, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { dismiss } from "../../shared/survey/dismiss.ts";
import { respond } from "../../shared/survey/respond.ts";
import { readResults } from "../../shared/survey/results.ts";
import { PMFDismissRead, PMFResponseCreate, PMFResponseRead, PMFResultsRead } from "../../shared/survey/schemas.ts";

const tag = "Survey";

export const survey = [
  route({
    id: "respondToSurvey",
    method: "post",
    path: "/api/v1/pmf/respond",
    tag,
    summary: "Answer the product survey",
    description:
      "An account counts once in 30 days: a newer answer within them, or one after a dismissal, replaces it.",
    auth: "session",
    body: PMFResponseCreate,
    returns: { 201: PMFResponseRead },
    async handler({ ctx, principal, body }) {
      return created(await respond(ctx, principal, body));
    },
  }),
  route({
    id: "dismissSurvey",
    method: "post",
    path: "/api/v1/pmf/dismiss",
    tag,
    summary: "Close the product survey unanswered",
    description: "Marks it as shown. An answer of the last 30 days is kept and counts.",
    auth: "session",
    returns: { 200: PMFDismissRead },
    async handler({ ctx, principal }) {
      await dismiss(ctx, principal);
      return ok({ dismissed: true });
    },
  }),
  route({
    id: "readSurveyResults",
    method: "get",
    path: "/api/v1/pmf/results",
    tag,
    summary: "What all users answered, in numbers",
    description: "Neither comments nor who gave which answer are ever shown.",
    auth: "session",
    query: z.object({ days: z.coerce.number().int().min(1).max(365).default(30) }),
    returns: { 200: PMFResultsRead },
    async handler({ ctx, query }) {
      return ok(await readResults(ctx, query.days));
    },
  }),
];
