import * as z from "zod";
import { createSuite } from "../../shared/catalogue/create-suite.ts";
import { SuiteCreate, TaskRetireResult } from "../../shared/catalogue/create-task-schemas.ts";
import { listSuites, listTasks, readSuite, readTask, TASK_SORTS } from "../../shared/catalogue/reads.ts";
import { retireTask } from "../../shared/catalogue/retire.ts";
import { SuiteRead, TaskDomain, TaskRead } from "../../shared/catalogue/schemas.ts";
import { pageOf, paged, pageQuery } from "../../shared/http/paging.ts";
import { created, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";

const tag = "Catalogue";

export const tasks = [
  route({
    id: "listTasks",
    method: "get",
    path: "/api/v1/tasks",
    tag,
    summary: "Benchmark tasks",
    description: "The active ones. Prompt and input of secret tasks are not shown; the key of a task never is.",
    auth: "open",
    query: pageQuery.extend({
      domain: TaskDomain.optional(),
      suite_id: z.uuid().optional(),
      is_active: z.stringbool().default(true).meta({ description: "`false` for the retired ones" }),
      sort: z
        .enum(TASK_SORTS)
        .default("position")
        .meta({ description: "`position` is suite by suite, in order; `-` turns an order round" }),
    }),
    returns: { 200: pageOf(TaskRead, "TaskPage") },
    problems: ["not_found"],
    cache: "catalogue",
    async handler({ ctx, query }) {
      return ok(paged(await listTasks(ctx, query), query));
    },
  }),
  route({
    id: "readTask",
    method: "get",
    path: "/api/v1/tasks/{task_id}",
    tag,
    summary: "One benchmark task",
    auth: "open",
    params: z.object({ task_id: z.uuid() }),
    returns: { 200: TaskRead },
    problems: ["not_found"],
    cache: "catalogue",
    async handler({ ctx, params: { task_id } }) {
      return ok(await readTask(ctx, task_id));
    },
  }),
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
    id: "listSuites",
    method: "get",
    path: "/api/v1/suites",
    tag,
    summary: "Suites of benchmark tasks",
    description: "The suite with the slug `core` is the standard on which agents are ranked.",
    auth: "open",
    query: pageQuery,
    returns: { 200: pageOf(SuiteRead, "SuitePage") },
    cache: "catalogue",
    async handler({ ctx, query }) {
      return ok(paged(await listSuites(ctx, query), query));
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
    problems: ["duplicate_name"],
    idempotent: true,
    async handler({ ctx, body }) {
      const suite = await createSuite(ctx, body);
      return created(suite, `/api/v1/suites/${suite.id}`);
    },
  }),
  route({
    id: "readSuite",
    method: "get",
    path: "/api/v1/suites/{id}",
    tag,
    summary: "One suite",
    auth: "open",
    params: z.object({ id: z.uuid() }),
    returns: { 200: SuiteRead },
    problems: ["not_found"],
    cache: "catalogue",
    async handler({ ctx, params: { id } }) {
      return ok(await readSuite(ctx, id));
    },
  }),
];
