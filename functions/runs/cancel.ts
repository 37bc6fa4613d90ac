import * as z from "zod";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { assertCancelRight } from "../../shared/runs/cancel-right.ts";
import { assertSessionRight, cancelSession } from "../../shared/runs/cancel-session.ts";
import { cancelRun } from "../../shared/runs/cancel.ts";
import { ScreeningSessionRead } from "../../shared/runs/sessions-shown.ts";
import { RunRead } from "../../shared/runs/shown.ts";

const tag = "Runs";

export const cancelRuns = [
  route({
    id: "cancelRun",
    method: "post",
    path: "/api/v1/runs/{run_id}/cancel",
    tag,
    summary: "Cancel a queued run",
    description:
      "The run gives its allowance back. A running one can't be cancelled, 409 `run_in_progress`: it ends by its deadline, " +
      "and counts. A final run stays as it is. Runs of a certification are cancelled by those alone who may buy one: the " +
      "agent's owner, or the owner or an admin of its workspace. They count as not passed.",
    auth: "write",
    subject: "runs",
    params: z.object({ run_id: z.uuid() }),
    right: ({ ctx, principal, params: { run_id } }) => assertCancelRight(ctx, principal, run_id),
    returns: { 200: RunRead },
    problems: ["not_found", "forbidden", "run_in_progress"],
    async handler({ ctx, principal, params: { run_id } }) {
      return ok(await cancelRun(ctx, principal, run_id));
    },
  }),
  route({
    id: "cancelScreeningSession",
    method: "post",
    path: "/api/v1/screening-sessions/{session_id}/cancel",
    tag,
    summary: "Cancel what is queued of a screening session",
    description:
      "The queued runs give their allowance back. Those that were taken up go on and count; the session is `cancelled` once " +
      "they are final. Where nothing is queued, nothing changes. That of a certification is cancelled by those alone who may " +
      "buy one: the agent's owner, or the owner or an admin of its workspace.",
    auth: "write",
    subject: "runs",
    params: z.object({ session_id: z.uuid() }),
    right: ({ ctx, principal, params: { session_id } }) => assertSessionRight(ctx, principal, session_id),
    returns: { 200: ScreeningSessionRead },
    problems: ["not_found", "forbidden"],
    async handler({ ctx, principal, params: { session_id } }) {
      return ok(await cancelSession(ctx, principal, session_id));
    },
  }),
];
