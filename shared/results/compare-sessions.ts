import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { agents, runs, screening_sessions, tasks } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { ScreeningSessionRead } from "../runs/sessions-shown.ts";
import { runOrder, sessionJson, visibleSession } from "../runs/sessions.ts";
import { paired, pairsOf } from "../scoring/mcnemar.ts";
import { pairedShape, sideRate } from "../agents/paired.ts";

const count = z.int();

const Side = z.object({
  screening_session_id: z.uuid(),
  agent_id: z.uuid(),
  success_rate: sideRate,
  ...ScreeningSessionRead.pick({ simulated: true, evidence_cost_usd: true, priced_runs: true, duration_ms: true })
    .shape,
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
    ...pairedShape,
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
  session: ScreeningSessionRead.pick({
    id: true,
    agent_id: true,
    simulated: true,
    evidence_cost_usd: true,
    priced_runs: true,
    duration_ms: true,
  }),
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
    sql`select coalesce(json_agg(json_build_object('session', ${sessionJson}, 'cells', coalesce((
        select json_agg(json_build_object('task_id', x.task_id, 'runs', x.runs, 'passed', x.passed, 'run_ids', x.run_ids,
          'title', case when not t.is_secret then t.title end) order by x.task_id)
        from (
          select r.task_id, count(*) as runs, count(*) filter (where r.passed) as passed,
            json_agg(r.id order by ${runOrder}) as run_ids
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
  const [ofOne, ofOther] = [talliesOf(one), talliesOf(other)];
  const { success_rate_a, success_rate_b, ...comparison } = paired(pairsOf(ofOne, ofOther));
  const titles = new Map([...ofOther, ...ofOne].map(([task, { title }]) => [task, title]));
  return {
    a: { ...side(one), success_rate: success_rate_a },
    b: { ...side(other), success_rate: success_rate_b },
    ...comparison,
    by_task: [...titles.keys()].toSorted().map((task_id) => ({
      task_id,
      title: titles.get(task_id) ?? null,
      a: shown(ofOne.get(task_id)),
      b: shown(ofOther.get(task_id)),
    })),
  };
}

/** What a session's runs of each task came to. */
type Tally = z.output<typeof Cell> & { n: number; c: number };

function talliesOf({ cells }: z.output<typeof Found>): Map<string, Tally> {
  return new Map(cells.map((cell) => [cell.task_id, { ...cell, n: cell.runs, c: cell.passed }]));
}

function side({ session: { id, ...known } }: z.output<typeof Found>) {
  return { screening_session_id: id, ...known };
}

function shown(tally: Tally | undefined): z.output<typeof Results> {
  return tally === undefined ? null : { runs: tally.runs, passed: tally.passed, run_ids: tally.run_ids };
}
