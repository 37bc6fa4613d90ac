import * as z from "zod";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { ScreeningSessionRead } from "../../shared/runs/schemas.ts";
import { readSession } from "../../shared/runs/sessions.ts";

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
    params: z.object({ session_id: z.uuid() }),
    returns: { 200: ScreeningSessionRead },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { session_id } }) {
      return ok(await readSession(ctx, principal, session_id));
    },
  }),
];
