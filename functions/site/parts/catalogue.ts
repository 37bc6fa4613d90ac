import * as z from "zod";
import { SuiteRead, TaskRead } from "../../../shared/catalogue/shown.ts";
import type { Api } from "./api.ts";

/** Items of a page. */
export const PAGE = 100;
const Suites = z.object({ items: z.array(SuiteRead), total: z.number() });
const Tasks = z.object({ items: z.array(TaskRead), total: z.number() });

/** A benchmark task as everybody may see it. */
export type Task = z.output<typeof TaskRead>;

/** A suite of tasks. */
export type Suite = z.output<typeof SuiteRead>;

/** Reads every page of a list: the first, then the others at once. */
async function everyPage<T>(api: Api, path: string, schema: z.ZodType<{ items: T[]; total: number }>): Promise<T[]> {
  const at = (page: number) => api.read(`${path}?page_size=${PAGE}&page=${page}`, schema);
  const first = await at(1);
  const others = Array.from({ length: Math.ceil(first.total / PAGE) - 1 }, (_page, index) => at(index + 2));
  return [first, ...(await Promise.all(others))].flatMap(({ items }) => items);
}

/** All suites, oldest first. */
export const readSuites = (api: Api): Promise<Suite[]> => everyPage(api, "/api/v1/suites", Suites);

/** A page of the active tasks of a suite, in order, and how many there are. */
export const readSuiteTasks = (api: Api, suiteId: string, page: number): Promise<z.output<typeof Tasks>> =>
  api.read(`/api/v1/tasks?suite_id=${suiteId}&page_size=${PAGE}&page=${page}`, Tasks);
