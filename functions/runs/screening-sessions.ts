import * as z from "zod";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { compareSessions, SessionComparison } from "../../shared/results/compare-sessions.ts";
import { assertSessionRight, cancelSession } from "../../shared/runs/cancel-session.ts";
import { RerunCreate, rerun } from "../../shared/runs/rerun.ts";
import { ScreeningSessionRead } from "../../shared/runs/schemas.ts";
import { RunRead } from "../../shared/runs/shown.ts";
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
  route({
    id: "cancelScreeningSession",
    method: "post",
    path: "/api/v1/screening-sessions/{session_id}/cancel",
    tag: "Runs",
    summary: "Cancel what is queued of a screening session",
    description:
      "The queued runs give their allowance back. Those that were taken up go on and count; the session is `cancelled` once " +
      "they are final. Where nothing is queued, nothing changes. That of a certification is cancelled by those alone who may " +
      "buy one: the agent's owner, or the owner or an admin of its workspace.",
    auth: "write",
    subject: "runs",
    params,
    right: ({ ctx, principal, params: { session_id } }) => assertSessionRight(ctx, principal, session_id),
    returns: { 200: ScreeningSessionRead },
    problems: ["not_found", "forbidden"],
    async handler({ ctx, principal, params: { session_id } }) {
      return ok(await cancelSession(ctx, principal, session_id));
    },
  }),
  route({
    id: "rerunScreeningSession",
    method: "post",
    path: "/api/v1/screening-sessions/{session_id}/rerun",
    tag: "Runs",
    summary: "Run the failures of a screening session again",
    description:
      "A new session over those tasks, each as often as before, from the usual allowance; what the old one found stays. " +
      "Canaries, cancelled runs and tasks that are retired or secret are left out. 409 `run_in_progress` until the session " +
      "is final, 422 `task_unavailable` where nothing is left to run.",
    auth: "write",
    subject: "runs",
    params,
    body: RerunCreate,
    right: ({ ctx, principal, params: { session_id } }) => assertSessionRight(ctx, principal, session_id),
    returns: { 200: z.array(RunRead) },
    problems: [
      "not_found",
      "forbidden",
      "run_in_progress",
      "agent_inactive",
      "provider_custody_retired",
      "task_unavailable",
      "quota_exceeded",
      "trial_not_allowed",
      "suite_unavailable",
    ],
    idempotent: true,
    async handler({ ctx, principal, params: { session_id }, body }) {
      return ok(await rerun(ctx, principal, session_id, body));
    },
  }),
];
