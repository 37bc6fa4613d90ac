import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { suites, tasks } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { bodyProblem, notFound, type Problem } from "../platform/problem.ts";
import type { TaskAdminRead, TaskCreate } from "./create-task-schemas.ts";
import { taskJson } from "./reads.ts";

type TaskAdminRow = z.input<typeof TaskAdminRead>;

/** Whether a task can stand where it is wanted. */
export type Fit = "fits" | "no_suite" | "other_secrecy";

/**
 * Puts a task at the end of its suite, under the suite's version. Throws 404 for an unknown suite, and
 * `conflicting_parameters` for a task that is to be secret in a public suite or open in a secret one.
 */
export async function createTask(ctx: Context, input: z.output<typeof TaskCreate>): Promise<TaskAdminRow> {
  const { suite_id: suiteId = null, is_secret: isSecret = null, ...task } = input;
  const ctes = sql`with place as (${placeIn(suiteId, isSecret)}), t as (
    ${insertTask(sql`${JSON.stringify(task)}::jsonb`, sql`(select * from place where fit = 'fits') p`)}
  )`;
  const result = sql`select jsonb_build_object('fit', p.fit, 'task', (select ${taskJson} || jsonb_build_object(
      'prompt', t.prompt, 'expected_output', case when not t.is_secret then t.expected_output end,
      'grader', case when t.is_secret then jsonb_build_object('type', t.grader -> 'type') else t.grader end
    ) from t)) as result from place p`;
  const { fit, task: row } = await writeJson<{ fit: Fit; task: TaskAdminRow }>(ctx, ctes, result, lockSuite(suiteId));
  if (fit !== "fits") throw misplaced(fit);
  ctx.cache.invalidate("catalogue");
  return row;
}

/** SQL: makes those who add to a suite, or change its version, take turns. */
export function lockSuite(suiteId: string | null): SQL {
  return sql`select k.id from ${suites} k where k.id = ${suiteId}::uuid for no key update`;
}

/**
 * SQL: one row (`fit`, `suite_id`, `suite_version`, `position`, `is_secret`): whether a new task fits into the suite, if
 * any, and where. Without a word about its secrecy, it is as secret as its suite.
 */
export function placeIn(suiteId: string | null, isSecret: boolean | null): SQL {
  return sql`select k.id as suite_id, coalesce(k.version, 1) as suite_version,
      case when k.id is null then 0
        else (select coalesce(max(t.position), 0) + 1 from ${tasks} t where t.suite_id = k.id) end as position,
      coalesce(${isSecret}::boolean, k.is_secret, false) as is_secret,
      case when ${suiteId}::uuid is not null and k.id is null then 'no_suite'
        when k.is_secret <> ${isSecret}::boolean then 'other_secrecy' else 'fits' end as fit
    from (select) one left join ${suites} k on k.id = ${suiteId}::uuid`;
}

/** SQL: inserts a task of the validated `content` (jsonb) for each row of `places`, a FROM item `p` of `placeIn`'s rows. */
export function insertTask(content: SQL, places: SQL): SQL {
  return sql`insert into ${tasks} (suite_id, suite_version, position, is_secret, title, domain, prompt, input, output_format,
      output_schema, tools, grader, expected_output, pass_threshold, time_limit_ms, reference_cost_usd,
      reference_latency_ms, expected_tool_calls)
    select p.suite_id, p.suite_version, p.position, p.is_secret, c.title, c.domain, c.prompt, c.input,
      c.output_format, c.output_schema, c.tools, c.grader,
      c.expected_output, c.pass_threshold, c.time_limit_ms, c.reference_cost_usd,
      c.reference_latency_ms, c.expected_tool_calls
    from ${places} cross join lateral jsonb_to_record(${content}) as c(title text, domain text, prompt text, input jsonb,
      output_format text, output_schema jsonb, tools jsonb, grader jsonb, expected_output jsonb,
      pass_threshold double precision, time_limit_ms integer, reference_cost_usd double precision,
      reference_latency_ms integer, expected_tool_calls integer)
    returning *`;
}

/** Why a task can't stand where it is wanted. */
export function misplaced(fit: Exclude<Fit, "fits">): Problem {
  if (fit === "no_suite") return notFound("suite");
  const advice =
    "A secret suite holds secret tasks alone, a public one none: leave is_secret out, or take another suite.";
  return bodyProblem("conflicting_parameters", "/is_secret", advice);
}
