import { sql } from "drizzle-orm";
import * as z from "zod";
import { COST } from "../board/aggregates.ts";
import { read } from "../db/change.ts";
import { certifications, runs, tasks } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { Instant } from "../platform/time.ts";
import type { ScoredRun, TaskReference } from "../scoring/score.ts";
import { keptPlan } from "./plan.ts";
import { isAsked } from "./rules.ts";
import { REPEATS } from "./terms.ts";

const FinalRun = z.object({
  passed: z.boolean(),
  correctness: z.number(),
  gradable: z.boolean(),
  latency_ms: z.number().nullable(),
  cost_usd: z.number().nullable(),
  tool_calls_made: z.number().nullable(),
}) satisfies z.ZodType<ScoredRun>;

const Reference = z.object({
  reference_cost_usd: z.number(),
  reference_latency_ms: z.number(),
  expected_tool_calls: z.number().nullable(),
}) satisfies z.ZodType<TaskReference>;

/** A task of a certification: the final runs that count, and how many it lacks, since all tries failed by our fault. */
const ScreenedTask = Reference.extend({ domain: z.string(), runs: z.array(FinalRun), missing: z.int() });
export type ScreenedTask = z.output<typeof ScreenedTask>;

const Screened = z.object({
  tasks: z.array(ScreenedTask),
  /** All runs that were made: another number means that there is more to go by. */
  made: z.int(),
  /** When the first run that is missing was tried for the first time; null where none is. */
  missing_since: Instant.nullable(),
});

/** What the runs of a certification came to, none of which is open; null for one without a session. */
export function readScreened(ctx: Context, certificationId: string): Promise<z.output<typeof Screened> | null> {
  return read(
    ctx,
    Screened,
    sql`with target as (
      select c.screening_session_id as session_id from ${certifications} c where c.id = ${certificationId}::uuid
    ), ${keptPlan}, made as (
      select r.* from target x join ${runs} r on r.screening_session_id = x.session_id
    ), valid as (
      select r.task_id, jsonb_agg(jsonb_build_object('passed', coalesce(r.passed, false),
        'correctness', coalesce(r.correctness, 0), 'gradable', r.status = 'completed',
        'latency_ms', case when r.status = 'completed' then r.latency_ms end, 'cost_usd', ${COST},
        'tool_calls_made', r.tool_calls_made)) as runs
      from made r where r.failure_code is distinct from 'service_error' group by r.task_id
    ), slots as (
      select p.task_id, min(r.created_at) as tried_at
      from plan p join ${tasks} t on t.id = p.task_id and ${isAsked} cross join generate_series(1, ${REPEATS}::integer) n
        left join made r on r.position = p.position and r.repeat_index = n
      group by p.task_id, p.position, n
      having count(r.id) filter (where r.failure_code is distinct from 'service_error') = 0
    ), lacking as (
      select task_id, count(*) as runs from slots group by task_id
    )
    select jsonb_build_object('made', (select count(*) from made), 'missing_since', (select min(tried_at) from slots),
      'tasks', (select coalesce(jsonb_agg(jsonb_build_object('domain', t.domain,
          'reference_cost_usd', t.reference_cost_usd, 'reference_latency_ms', t.reference_latency_ms,
          'expected_tool_calls', t.expected_tool_calls, 'runs', coalesce(v.runs, '[]'), 'missing', coalesce(l.runs, 0))), '[]')
        from valid v full join lacking l on l.task_id = v.task_id join ${tasks} t on t.id = coalesce(v.task_id, l.task_id))
    ) as result from target where session_id is not null`,
  );
}
