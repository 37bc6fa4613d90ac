import { TaskSubmissionRead } from "../../shared/catalogue/submissions/schemas.ts";
import { TaskSubmissionCreate } from "../../shared/catalogue/submissions/submission-create.ts";
import { MAX_PENDING, submitTask } from "../../shared/catalogue/submissions/submit.ts";
import { created } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";

/** Apart from the other submissions, since all graders are loaded to check one. */
export const newSubmissions = [
  route({
    id: "submitTask",
    method: "post",
    path: "/api/v1/task-submissions",
    tag: "Task submissions",
    summary: "Propose a benchmark task",
    description:
      "It waits for an operator's review, and nothing of it runs before that. It must be gradable, like any task. " +
      `At most ${MAX_PENDING} of an account may wait at once.`,
    auth: "session",
    body: TaskSubmissionCreate,
    returns: { 201: TaskSubmissionRead },
    problems: ["quota_exceeded"],
    idempotent: true,
    async handler({ ctx, principal, body }) {
      return created(await submitTask(ctx, principal, body));
    },
  }),
];
