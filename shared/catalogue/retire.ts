import { sql } from "drizzle-orm";
import type * as z from "zod";
import { tasks } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import type { TaskRetireResult } from "./create-task-schemas.ts";

/**
 * Takes a task out of the catalogue for good; runs that were reserved before still run, and all runs stay. Of any number
 * of calls one finds it active. Throws 404.
 */
export async function retireTask(ctx: Context, taskId: string): Promise<z.input<typeof TaskRetireResult>> {
  const result = await readJson<z.input<typeof TaskRetireResult>>(
    ctx,
    sql`with retired as (
      update ${tasks} set is_active = false, retired_at = ${ctx.now().toISOString()}::timestamptz
      where id = ${taskId}::uuid and is_active returning id
    )
    select jsonb_build_object('task_id', t.id, 'is_active', false, 'was_active', exists (select from retired)) as result
    from ${tasks} t where t.id = ${taskId}::uuid`,
  );
  if (result === null) throw notFound("task");
  ctx.cache.invalidate("catalogue");
  return result;
}
