import * as z from "zod";
import { listSuites, listTasks, readSuite, readTask, TASK_SORTS } from "../../shared/catalogue/reads.ts";
import { TaskDomain } from "../../shared/catalogue/domains.ts";
import { SuiteRead, TaskRead } from "../../shared/catalogue/shown.ts";
import { paged, pageOf, pageQuery } from "../../shared/http/paging.ts";
import { ok } from "../../shared/http/reply.ts";
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
