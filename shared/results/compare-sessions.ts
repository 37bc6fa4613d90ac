import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { agents, runs, screening_sessions, tasks } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { ScreeningSessionRead } from "../runs/schemas.ts";
import { runOrder, sessionJson, visibleSession } from "../runs/sessions.ts";
import { paired } from "../scoring/mcnemar.ts";

const count = z.int();
const difference = z.number().min(-1).max(1);

const Side = z.object({
  screening_session_id: z.uuid(),
  agent_id: z.uuid(),
  success_rate: z.number().nullable().meta({ description: "Mean over the shared tasks; null without any" }),
  ...ScreeningSessionRead.pick({ evidence_cost_usd: true, duration_ms: true }).shape,
});
const Results = z
  .object({
    runs: count,
    passed: count.meta({ description: "How many of them passed" }),
    run_ids: z.array(z.uuid()).meta({ description: "The graded runs, in order" }),
  })
  .nullable();

/** Two screening sessions over the tasks that both have results of. */
export const SessionComparison = z
  .object({
    a: Side,
    b: Side,
    tasks: count.meta({ description: "Tasks of which both sessions have graded runs" }),
    wins: count.meta({
      description: "Tasks that a passes and b doesn't; a task is passed in more than half of its runs",
    }),
    losses: count.meta({ description: "Tasks that b passes and a doesn't" }),
    ties: count,
    mcnemar_p_value: z.number().min(0).max(1).meta({
      description: "Two-sided, by McNemar's exact test over wins and losses: how likely so uneven a count is by chance",
    }),
    difference: difference.nullable().meta({ description: "Success rate of a less that of b; null without a task" }),
    difference_low: difference.meta({ description: "95% interval, paired and clustered by task; -1 below two tasks" }),
    difference_high: difference.meta({ description: "1 below two tasks" }),
    by_task: z
      .array(
        z.object({
          task_id: z.uuid(),
          title: z.string().nullable().meta({ description: "Null for a secret task" }),
          a: Results.meta({ description: "Null without a graded run" }),
          b: Results.meta({ description: "Null without a graded run" }),
        }),
      )
      .meta({ description: "Every task of which at least one of the sessions has graded runs" }),
  })
  .meta({ id: "SessionComparison" });

const Cell = z.object({
  task_id: z.uuid(),
  title: z.string().nullable(),
  runs: count,
  passed: count,
  run_ids: z.array(z.uuid()),
});
const Found = z.object({
  session: ScreeningSessionRead.pick({ id: true, agent_id: true, evidence_cost_usd: true, duration_ms: true }),
  cells: z.array(Cell),
});

/**
 * Compares a screening session, `a`, with another one, `b`, over the tasks that both have graded runs of, task by task as
 * agents are compared. Canaries, cancelled runs and those that failed by our fault are left out; of a session that goes on,
 * what is final counts so far, and nothing where results are held back to its end. Throws 404 unless both are visible.
 */
export async function compareSessions(
  ctx: Context,
  principal: Principal,
  a: string,
  b: string,
): Promise<z.output<typeof SessionComparison>> {
  const found = await read(
    ctx,
    z.array(Found),
    sql`select coalesce(jsonb_agg(jsonb_build_object('session', ${sessionJson}, 'cells', coalesce((
        select jsonb_agg(jsonb_build_object('task_id', x.task_id, 'runs', x.runs, 'passed', x.passed, 'run_ids', x.run_ids,
          'title', case when not t.is_secret then t.title end) order by x.task_id)
        from (
          select r.task_id, count(*) as runs, count(*) filter (where r.passed) as passed,
            jsonb_agg(r.id order by ${runOrder}) as run_ids
          from ${runs} r
          where r.screening_session_id = s.id and r.status in ('completed', 'failed') and not r.canary
            and r.failure_code is distinct from 'service_error'
          group by r.task_id
        ) x join ${tasks} t on t.id = x.task_id), '[]'))), '[]') as result
      from ${screening_sessions} s join ${agents} a on a.id = s.agent_id
      where s.id in (${a}::uuid, ${b}::uuid) and ${visibleSession(viewerId(principal))}`,
  );
  const [one, other] = [a, b].map((id) => found?.find(({ session }) => session.id === id.toLowerCase()));
  if (one === undefined || other === undefined) throw notFound("screening session");
  const [ofOne, ofOther] = [one, other].map(({ cells }) => new Map(cells.map((cell) => [cell.task_id, cell])));
  const rows = [...new Map([...(ofOther ?? []), ...(ofOne ?? [])])].map(([task_id, { title }]) => ({
    task_id,
    title,
    a: tally(ofOne?.get(task_id)),
    b: tally(ofOther?.get(task_id)),
  }));
  const pairs = rows.flatMap((row) =>
    row.a === null || row.b === null
      ? []
      : [{ a: { n: row.a.runs, c: row.a.passed }, b: { n: row.b.runs, c: row.b.passed } }],
  );
  const { success_rate_a, success_rate_b, ...comparison } = paired(pairs);
  return {
    a: { ...side(one), success_rate: success_rate_a },
    b: { ...side(other), success_rate: success_rate_b },
    ...comparison,
    by_task: rows.toSorted((x, y) => (x.task_id < y.task_id ? -1 : 1)),
  };
}

function side({ session: { id, ...shown } }: z.output<typeof Found>) {
  return { screening_session_id: id, ...shown };
}

function tally(cell: z.output<typeof Cell> | undefined): z.output<typeof Results> {
  return cell === undefined ? null : { runs: cell.runs, passed: cell.passed, run_ids: cell.run_ids };
}
