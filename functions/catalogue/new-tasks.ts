import { TaskAdminRead } from "../../shared/catalogue/create-task-schemas.ts";
import { createTask } from "../../shared/catalogue/create-task.ts";
import { TaskCreate } from "../../shared/catalogue/task-create.ts";
import { created } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";

/** Apart from the other tasks, since all graders are loaded to check one: who reads tasks must not wait for that. */
export const newTasks = [
  route({
    id: "createTask",
    method: "post",
    path: "/api/v1/tasks",
    tag: "Catalogue",
    summary: "Add a task to the catalogue",
    description:
      "At the end of its suite, under the suite's version. A task of a secret suite is secret, one of a public suite " +
      "is not. Grader, key, `output_schema` and `tools` must fit together. A task added to the suite `core` counts " +
      "for every ranked agent: one without runs of it becomes provisional when it is next scored, at the latest with " +
      "the nightly recomputation of the boards.",
    auth: "admin",
    body: TaskCreate,
    returns: { 201: TaskAdminRead },
    located: true,
    problems: ["not_found", "conflicting_parameters"],
    idempotent: true,
    async handler({ ctx, body }) {
      const task = await createTask(ctx, body);
      return created(task, `/api/v1/tasks/${task.id}`);
    },
  }),
];
