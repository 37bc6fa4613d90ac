import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { visibleAgent } from "../agents/view.ts";
import { read } from "../db/change.ts";
import { agents, isFinishedRun, runs, tasks } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { RunRead } from "../runs/schemas.ts";
import { mayRun, runJson, visibleRun } from "../runs/view.ts";

const TaskRecord = z.object({ task_id: z.uuid(), title: z.string(), pass_rate: z.number() }).nullable();

export const AgentStats = z
  .object({
    total_runs: z.number().int(),
    successful_runs: z.number().int().meta({ description: "Passed" }),
    failed_runs: z.number().int().meta({ description: "Final and not passed" }),
    avg_latency_ms: z.number().nullable(),
    avg_cost_usd: z.number().nullable(),
    best_task: TaskRecord,
    worst_task: TaskRecord,
    recent_runs: z.array(RunRead),
  })
  .meta({ id: "AgentStats" });

/** SQL: the record (AgentStats) of the agent row `a` over the runs that a viewer may see. */
export function statsJson(viewer: string | null): SQL {
  const pick = (order: "asc" | "desc") => sql`(
    select jsonb_build_object('task_id', x.task_id, 'title', x.title, 'pass_rate', x.pass_rate) from by_task x
    order by x.pass_rate ${sql.raw(order)}, x.n desc, x.task_id limit 1)`;
  return sql`(with visible as (
      select r.* from ${runs} r
      where r.agent_id = a.id and r.failure_code is distinct from 'service_error' and ${visibleRun(viewer)}
    ), by_task as (
      select r.task_id, t.title, avg(r.passed::integer)::double precision as pass_rate, count(*) as n
      from visible r join ${tasks} t on t.id = r.task_id where ${isFinishedRun(sql`r.status`)} group by r.task_id, t.title
    )
    select jsonb_build_object(
      'total_runs', (select count(*) from visible),
      'successful_runs', (select count(*) from visible r where r.passed),
      'failed_runs', (select count(*) from visible r where ${isFinishedRun(sql`r.status`)} and not r.passed),
      'avg_latency_ms', (select round(avg(r.latency_ms), 1) from visible r where r.status = 'completed'),
      'avg_cost_usd', (select round(avg(r.evidence_cost_usd), 6) from visible r where not r.evidence_cost_partial),
      'best_task', ${pick("desc")}, 'worst_task', ${pick("asc")},
      'recent_runs', coalesce((select jsonb_agg(${runJson(mayRun("see", viewer))} order by r.id desc)
        from (select * from visible order by id desc limit 10) r), '[]')))`;
}

/** An agent's record over the runs that the caller may see; throws 404. */
export async function readStats(
  ctx: Context,
  principal: Principal,
  agentId: string,
): Promise<z.output<typeof AgentStats>> {
  const viewer = viewerId(principal);
  const result = await read(
    ctx,
    AgentStats,
    sql`select ${statsJson(viewer)} as result from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}`,
  );
  if (result === null) throw notFound("agent");
  return result;
}
