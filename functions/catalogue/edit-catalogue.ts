import * as z from "zod";
import { createSuite } from "../../shared/catalogue/create-suite.ts";
import { SuiteCreate, TaskRetireResult } from "../../shared/catalogue/create-task-schemas.ts";
import { retireTask } from "../../shared/catalogue/retire.ts";
import { SuiteRead } from "../../shared/catalogue/shown.ts";
import { created, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";

const tag = "Catalogue";

export const editCatalogue = [
  route({
    id: "retireTask",
    method: "post",
    path: "/api/v1/tasks/{task_id}/retire",
    tag,
    summary: "Retire a task for good",
    description:
      "It can't be run any more; runs that were reserved before still run, and recorded runs and scores stay. " +
      "Retiring it again changes nothing and answers `was_active: false`. A rank no longer requires a retired task " +
      "of the suite `core`, which the boards take in as they do a new task.",
    auth: "admin",
    params: z.object({ task_id: z.uuid() }),
    returns: { 200: TaskRetireResult },
    problems: ["not_found"],
    async handler({ ctx, params: { task_id } }) {
      return ok(await retireTask(ctx, task_id));
    },
  }),
  route({
    id: "createSuite",
    method: "post",
    path: "/api/v1/suites",
    tag,
    summary: "Create an empty suite",
    auth: "admin",
    body: SuiteCreate,
    returns: { 201: SuiteRead },
    located: true,
    problems: ["duplicate_name"],
    idempotent: true,
    async handler({ ctx, body }) {
      const suite = await createSuite(ctx, body);
      return created(suite, `/api/v1/suites/${suite.id}`);
    },
  }),
];
