import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { tasks } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { estimate, ScoredTasks, scoredTasksOf } from "./estimate.ts";
import type { estimateQuery, ScreeningPreflightRead } from "./preflight-shown.ts";
import { LIMITS, TOLD_LIMITS } from "./limits.ts";

const ActiveTasks = z.object({ count: z.int(), total_ms: z.int(), scored: ScoredTasks.nullable() });

/**
 * The limits of a screening, and how long one over all active tasks (at most 100), once each, can take; with a width to
 * reach, also the repeats that it takes. Throws 404 for an agent that is not visible.
 */
export async function readPreflight(
  ctx: Context,
  principal: Principal,
  { width, agent_id: agentId }: z.output<typeof estimateQuery>,
): Promise<z.output<typeof ScreeningPreflightRead>> {
  const scored = agentId === undefined ? sql`null::jsonb` : scoredTasksOf(agentId, viewerId(principal));
  const active = await read(
    ctx,
    ActiveTasks,
    sql`select jsonb_build_object('scored', ${scored}, 'count', count(*), 'total_ms', coalesce(sum(time_limit_ms)
        filter (where n <= ${LIMITS.tasksPerBatch}), 0)) as result
      from (select time_limit_ms, row_number() over (order by time_limit_ms desc) as n
        from ${tasks} where is_active and not is_secret) t`,
  );
  if (active?.scored?.visible === false) throw notFound("agent");
  const count = active?.count ?? 0;
  return {
    ...TOLD_LIMITS,
    active_tasks: count,
    estimated_max_duration_ms: Math.ceil((active?.total_ms ?? 0) / LIMITS.concurrency),
    repeats_estimate:
      width === undefined ? null : estimate(width, active?.scored?.tasks ?? [], Math.min(count, LIMITS.tasksPerBatch)),
  };
}
