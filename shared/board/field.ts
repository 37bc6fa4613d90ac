import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { suites, task_scores, tasks } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { boardRows } from "./board.ts";

/** How many of the board's first agents stand for the field: so many cells are read for each task, and no more. */
const FIELD = 20;

export const SuiteField = z
  .object({
    suite_id: z.uuid(),
    agents: z
      .int()
      .max(FIELD)
      .meta({ description: `The first ranked agents of the public board, ${FIELD} at most: the field` }),
    items: z
      .array(
        z.object({
          task_id: z.uuid(),
          agents: z.int().meta({ description: "How many of them have scored runs of the task" }),
          pass_rate: z
            .number()
            .min(0)
            .max(1)
            .nullable()
            .meta({ description: "The mean of their pass rates at the task; null without any" }),
          always: z.int().meta({ description: "How many of them passed it in every scored run" }),
          never: z.int().meta({ description: "How many passed it in none" }),
        }),
      )
      .meta({ description: "The active tasks of the suite, in order" }),
  })
  .meta({ id: "SuiteField" });
export type SuiteField = z.output<typeof SuiteField>;

/** How the best agents of the public board do at each task of a suite, in one statement; throws 404. */
export async function readField(ctx: Context, suiteId: string): Promise<SuiteField> {
  const everything = { domain: undefined, period: "all", verified_only: false } as const;
  const found = await read(
    ctx,
    SuiteField,
    sql`with field as materialized (
      select agent_id from (${boardRows(everything, sql`b.agent_id, b.tier`)} limit ${FIELD}) b where b.tier = 0
    ), done as (
      select t.id, count(s.agent_id) as agents, avg(s.success) as pass_rate,
        count(*) filter (where s.c = s.n) as always, count(*) filter (where s.c = 0) as never
      from ${tasks} t cross join field f
        join ${task_scores} s on s.agent_id = f.agent_id and s.task_id = t.id and s.period = 'all' and not s.simulated
      where t.suite_id = ${suiteId}::uuid and t.is_active group by t.id
    )
    select jsonb_build_object('suite_id', s.id, 'agents', (select count(*) from field), 'items', coalesce((
      select jsonb_agg(jsonb_build_object('task_id', t.id, 'agents', coalesce(d.agents, 0), 'pass_rate', d.pass_rate,
        'always', coalesce(d.always, 0), 'never', coalesce(d.never, 0)) order by t.position, t.id)
      from ${tasks} t left join done d on d.id = t.id where t.suite_id = s.id and t.is_active), '[]')) as result
    from ${suites} s where s.id = ${suiteId}::uuid`,
  );
  if (found === null) throw notFound("suite");
  return found;
}
