import { sql } from "drizzle-orm";
import type * as z from "zod";
import { write } from "../db/change.ts";
import { tasks } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { TaskRetireResult } from "./create-task-schemas.ts";

/**
 * Takes a task out of the catalogue for good; runs that were reserved before still run, and all runs stay. Of any number
 * of calls exactly one answers that it retired the task. Throws 404.
 */
export async function retireTask(ctx: Context, taskId: string): Promise<z.output<typeof TaskRetireResult>> {
  const result = await write(ctx, {
    parts: sql`with retired as (
      update ${tasks} set is_active = false, retired_at = ${ctx.now().toISOString()}::timestamptz
      where id = ${taskId}::uuid and is_active returning id
    )`,
    select: sql`select jsonb_build_object('task_id', t.id, 'is_active', false,
      'was_active', exists (select from retired)) as result from ${tasks} t where t.id = ${taskId}::uuid`,
    result: TaskRetireResult,
  });
  if (result === null) throw notFound("task");
  ctx.cache.invalidate("catalogue");
  return result;
}
