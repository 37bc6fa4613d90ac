import * as z from "zod";
import { assertScope } from "../../shared/http/credentials.ts";
import { accepted, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { assertSessionRight } from "../../shared/runs/cancel-session.ts";
import { rerun, RerunCreate } from "../../shared/runs/rerun.ts";
import { BatchCreate, RunCreate, RunCreateRead } from "../../shared/runs/schemas.ts";
import { RunRead } from "../../shared/runs/shown.ts";
import type { Submission } from "../../shared/runs/submission.ts";
import { submit } from "../../shared/runs/submit.ts";

const tag = "Runs";

const REFUSALS = [
  "not_found",
  "forbidden",
  "agent_inactive",
  "provider_custody_retired",
  "task_unavailable",
  "quota_exceeded",
] as const;

function tasksOf({ suite_id, task_ids }: z.output<typeof BatchCreate>): Submission["tasks"] {
  if (suite_id !== undefined) return { kind: "suite", suiteId: suite_id };
  return task_ids === undefined || task_ids.length === 0 ? { kind: "catalogue" } : { kind: "exact", taskIds: task_ids };
}

export const submitRuns = [
  route({
    id: "createRun",
    method: "post",
    path: "/api/v1/runs",
    tag,
    summary: "Run one task",
    description:
      "The run is queued and carried out asynchronously; it takes one run of the monthly allowance. Strangers, signed in " +
      "or not, may run an agent whose owner set `allow_trial`; such a trial counts for no score, and can't be " +
      "`private`. Without an account 5 a day from an address, 200 a day in all.",
    auth: "open",
    subject: "runs",
    limit: "write",
    body: RunCreate,
    returns: { 202: RunCreateRead },
    located: true,
    problems: [...REFUSALS, "trial_not_allowed", "conflicting_parameters", "insufficient_scope"],
    idempotent: true,
    async handler({ ctx, principal, body }) {
      assertScope(principal, "runs:write");
      const [run] = await submit(ctx, principal, {
        agentId: body.agent_id,
        tasks: { kind: "one", taskId: body.task_id },
        repeats: 1,
        isPrivate: body.private,
      });
      return accepted(run, `/api/v1/runs/${run?.id}`);
    },
  }),
  route({
    id: "createBatch",
    method: "post",
    path: "/api/v1/runs/batch",
    tag,
    summary: "Run many tasks, each several times",
    description:
      "All or nothing: tasks × repeats runs are reserved at once. With `suite_id` the active tasks of that public suite, " +
      "with `task_ids` exactly these, with neither the first 100 of the catalogue; 422 `suite_unavailable` where that makes " +
      "more than 1,000 runs. The runs come in task order, then by repeat; their `screening_session_id` is the receipt.\n\n" +
      "With two repeats or more, one run in ten of minted tasks is a canary: asked the published sample, not counted, and " +
      "given back. Which ones is told when all runs are final; until then their evidence and what they add to the score wait.",
    auth: "write",
    subject: "runs",
    body: BatchCreate,
    returns: { 200: z.array(RunRead) },
    problems: [...REFUSALS, "suite_unavailable", "conflicting_parameters"],
    idempotent: true,
    async handler({ ctx, principal, body }) {
      const reserved = await submit(ctx, principal, {
        agentId: body.agent_id,
        tasks: tasksOf(body),
        repeats: body.repeats,
        isPrivate: body.private,
      });
      return ok(reserved);
    },
  }),
  route({
    id: "rerunScreeningSession",
    method: "post",
    path: "/api/v1/screening-sessions/{session_id}/rerun",
    tag,
    summary: "Run the failures of a screening session again",
    description:
      "A new session over those tasks, each as often as before, from the usual allowance; what the old one found stays. " +
      "Canaries, cancelled runs and tasks that are retired or secret are left out. 409 `run_in_progress` until the session " +
      "is final, 422 `task_unavailable` where nothing is left to run.",
    auth: "write",
    subject: "runs",
    params: z.object({ session_id: z.uuid() }),
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
