import * as z from "zod";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { compareSessions, SessionComparison } from "../../shared/results/compare-sessions.ts";
import { ScreeningSessionRead } from "../../shared/runs/sessions-shown.ts";
import { readSession } from "../../shared/runs/sessions.ts";

const params = z.object({ session_id: z.uuid() });

export const sessions = [
  route({
    id: "readScreeningSession",
    method: "get",
    path: "/api/v1/screening-sessions/{session_id}",
    tag: "Runs",
    summary: "One screening session: its plan, runs and progress",
    description:
      "A session whose runs may be canaries is `running` until all are final and it was told which ones are: a moment " +
      "after the last of them.",
    auth: "open",
    subject: "runs",
    params,
    returns: { 200: ScreeningSessionRead },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { session_id } }) {
      return ok(await readSession(ctx, principal, session_id));
    },
  }),
  route({
    id: "compareScreeningSessions",
    method: "get",
    path: "/api/v1/screening-sessions/{session_id}/compare",
    tag: "Runs",
    summary: "A screening session against another one",
    description:
      "Over the tasks of which both have graded runs, paired task by task: `a` is this session, `b` the one of `with`. " +
      "Canaries, cancelled runs and those that failed by the service's fault are left out; of a session that goes on, " +
      "what is final counts so far, and nothing while results are held back to its end. The sessions may be of different agents.",
    auth: "open",
    subject: "runs",
    params,
    query: z.object({ with: z.uuid().meta({ description: "The other session's id" }) }),
    returns: { 200: SessionComparison },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { session_id }, query }) {
      return ok(await compareSessions(ctx, principal, session_id, query.with));
    },
  }),
];
