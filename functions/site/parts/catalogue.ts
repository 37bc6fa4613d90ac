import * as z from "zod";
import { SuiteRead, TaskRead } from "../../../shared/catalogue/shown.ts";
import type { Api } from "./api.ts";

const PAGE = 100;
const Suites = z.object({ items: z.array(SuiteRead), total: z.number() });
const Tasks = z.object({ items: z.array(TaskRead), total: z.number() });

/** A benchmark task as everybody may see it. */
export type Task = z.output<typeof TaskRead>;

/** A suite of tasks. */
export type Suite = z.output<typeof SuiteRead>;

/** Reads every page of a list: the first, then the others at once. */
async function everyPage<T>(api: Api, path: string, schema: z.ZodType<{ items: T[]; total: number }>): Promise<T[]> {
  const joint = path.includes("?") ? "&" : "?";
  const at = (page: number) => api.read(`${path}${joint}page_size=${PAGE}&page=${page}`, schema);
  const first = await at(1);
  const others = Array.from({ length: Math.ceil(first.total / PAGE) - 1 }, (_page, index) => at(index + 2));
  return [first, ...(await Promise.all(others))].flatMap(({ items }) => items);
}

/** All suites, oldest first. */
export const readSuites = (api: Api): Promise<Suite[]> => everyPage(api, "/api/v1/suites", Suites);

/** All active tasks, suite by suite, in order. */
export const readTasks = (api: Api): Promise<Task[]> => everyPage(api, "/api/v1/tasks", Tasks);

/** All active tasks of a suite, in order. */
export const readSuiteTasks = (api: Api, suiteId: string): Promise<Task[]> =>
  everyPage(api, `/api/v1/tasks?suite_id=${suiteId}`, Tasks);
