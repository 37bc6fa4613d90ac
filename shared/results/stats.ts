import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { visibleAgent } from "../agents/conditions.ts";
import { read } from "../db/change.ts";
import { agents, run_tallies, runs, tasks } from "../db/schema/index.ts";
import { type Principal, runsViewerId, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { RunRead } from "../runs/shown.ts";
import { askedFor, mayRun, runJson, visibleRun } from "../runs/view.ts";

const TaskRecord = z.object({ task_id: z.uuid(), title: z.string(), pass_rate: z.number() }).nullable();

export const AgentStats = z
  .object({
    simulated: z.boolean().meta({
      description:
        "Whether these are simulated runs: they are left out of the record of an agent once a real one has ended",
    }),
    total_runs: z.int(),
    successful_runs: z.int().meta({ description: "Passed" }),
    failed_runs: z.int().meta({ description: "Completed or failed, and not passed" }),
    avg_latency_ms: z.int().nullable(),
    avg_cost_usd: z.number().nullable(),
    best_task: TaskRecord,
    worst_task: TaskRecord,
    recent_runs: z.array(RunRead).meta({
      description:
        "The latest, simulated ones among them; to an API key without `runs:read` those that everybody sees, as everybody does",
    }),
  })
  .meta({ id: "AgentStats" });

/** How many runs a record shows. */
const RECENT = 10;

/** SQL: whether the run row `r` belongs to a record: one that failed by our fault does not, and no canary. */
const belongs: SQL = sql`(r.failure_code is distinct from 'service_error' and r.canary is not true)`;

/**
 * SQL: the ids of the latest runs of the agent row `a` that belong to its record and that a reader of runs may see. The agent
 * itself is seen, but not by everybody who reads runs as `null`.
 */
function recentIds(reader: string | null): SQL {
  const newest = (condition: SQL) =>
    sql`(select r.id from ${runs} r where r.agent_id = a.id and ${belongs} and ${condition} order by r.id desc limit ${RECENT})`;
  const open = reader === null ? sql`not r.is_private and ${visibleAgent(null)}` : sql`not r.is_private`;
  return sql`select id from (
    ${newest(open)} union ${newest(mayRun("see", reader))}
    union ${newest(sql`r.is_private and ${askedFor("r", reader)}`)}
  ) x order by id desc limit ${RECENT}`;
}

/**
 * SQL: the record (AgentStats) of the agent row `a`, which the caller sees, over the runs that the caller may see, as on the
 * board over simulated ones only until a real one has ended: else an owner could better it by simulating. Of final runs it
 * reads the tallies, and the runs themselves only where a viewer who is no member asked for private ones. The numbers are
 * the agent's; what single runs say is for those whose credentials read runs.
 */
export function statsJson(principal: Principal): SQL {
  const [viewer, reader] = [viewerId(principal), runsViewerId(principal)];
  const member = mayRun("see", viewer);
  const asked = sql`r.agent_id = a.id and r.is_private and ${askedFor("r", viewer)} and ${belongs}`;
  const pick = (order: "asc" | "desc") => sql`(
    select jsonb_build_object('task_id', x.task_id, 'title', t.title, 'pass_rate', x.pass_rate)
    from by_task x join ${tasks} t on t.id = x.task_id where x.pass_rate is not null
    order by x.pass_rate ${sql.raw(order)}, x.ended desc, x.task_id limit 1)`;
  return sql`(with tallied as (
      select t.task_id, t.simulated, t.runs, t.ended, t.judged, t.passed, t.latency_ms, t.latencies, t.cost_usd, t.costs
      from ${run_tallies} t where t.agent_id = a.id and not t.is_private
      union all
      select t.task_id, t.simulated, t.runs, t.ended, t.judged, t.passed, t.latency_ms, t.latencies, t.cost_usd, t.costs
      from ${run_tallies} t where t.agent_id = a.id and t.is_private and ${member}
      union all
      select r.task_id, r.simulated, x.runs, x.ended, x.judged, x.passed, x.latency_ms, x.latencies, x.cost_usd, x.costs
      from ${runs} r cross join lateral run_tally(r) x
      where ${asked} and r.status not in ('queued', 'running') and not coalesce(${member}, false)
    ), open_runs as (
      select r.simulated, count(*) as runs from ${runs} r
      where r.agent_id = a.id and r.status in ('queued', 'running') and ${belongs} and ${visibleRun(viewer)} group by 1
    ), basis as (
      select not exists (select from tallied where not simulated and ended > 0)
        and (exists (select from tallied where simulated and runs > 0)
          or exists (select from open_runs where simulated)) as simulated
    ), by_task as (
      select task_id, sum(runs) as runs, sum(ended) as ended, sum(judged) as judged, sum(passed) as passed,
        (sum(passed)::numeric / nullif(sum(judged), 0))::double precision as pass_rate, sum(latency_ms) as latency_ms,
        sum(latencies) as latencies, sum(cost_usd) as cost_usd, sum(costs) as costs
      from tallied join basis using (simulated) group by task_id
    ), recent as (${recentIds(reader)})
    select json_build_object(
      'simulated', (select simulated from basis),
      'total_runs', coalesce(sum(x.runs), 0)
        + coalesce((select o.runs from open_runs o join basis using (simulated)), 0),
      'successful_runs', coalesce(sum(x.passed), 0),
      'failed_runs', coalesce(sum(x.judged - x.passed), 0),
      'avg_latency_ms', round(sum(x.latency_ms)::numeric / nullif(sum(x.latencies), 0)),
      'avg_cost_usd', round(sum(x.cost_usd) / nullif(sum(x.costs), 0), 6),
      'best_task', ${pick("desc")}, 'worst_task', ${pick("asc")},
      'recent_runs', coalesce((select json_agg(${runJson(mayRun("see", reader))} order by r.id desc)
        from ${runs} r where r.id in (select id from recent)), '[]'))
    from by_task x)`;
}

/** An agent's record over the runs that the caller may see; throws 404. */
export async function readStats(
  ctx: Context,
  principal: Principal,
  agentId: string,
): Promise<z.output<typeof AgentStats>> {
  const visible = visibleAgent(viewerId(principal));
  const result = await read(
    ctx,
    AgentStats,
    sql`select ${statsJson(principal)} as result from ${agents} a where a.id = ${agentId}::uuid and ${visible}`,
  );
  if (result === null) throw notFound("agent");
  return result;
}
