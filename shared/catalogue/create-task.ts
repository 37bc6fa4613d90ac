import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { change } from "../db/change.ts";
import { suites, tasks } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { bodyProblem, notFound, type Problem } from "../platform/problem.ts";
import { TaskAdminRead } from "./create-task-schemas.ts";
import type { TaskCreate } from "./task-create.ts";
import { taskJson } from "./reads.ts";

/** Why a new task may not be put into the suite that was asked for, as `placeIn` says in `outcome`. */
export const MISPLACED = ["no_suite", "other_secrecy"] as const;

/**
 * Puts a task at the end of its suite, under the suite's version. Throws 404 for an unknown suite, and
 * `conflicting_parameters` for a task that is to be secret in a public suite or open in a secret one.
 */
export async function createTask(
  ctx: Context,
  input: z.output<typeof TaskCreate>,
): Promise<z.output<typeof TaskAdminRead>> {
  const { suite_id: suiteId = null, is_secret: isSecret = null, ...task } = input;
  const { task: created } = await change(ctx, {
    lock: lockSuite(suiteId),
    parts: sql`with place as (${placeIn(suiteId, isSecret)}), t as (
      ${insertTask(sql`${JSON.stringify(task)}::jsonb`, sql`(select * from place where outcome = 'done') p`)}
    )`,
    result: sql`select jsonb_build_object('outcome', p.outcome, 'task', (select ${taskJson}::jsonb || jsonb_build_object(
        'prompt', t.prompt, 'expected_output', case when not t.is_secret then t.expected_output end,
        'grader', case when t.is_secret then jsonb_build_object('type', t.grader -> 'type') else t.grader end
      ) from t)) as result from place p`,
    verdict: { sql: sql`p.outcome`, cases: MISPLACED },
    done: z.object({ task: TaskAdminRead }),
    refusals: { not_found: noSuite, no_suite: noSuite, other_secrecy: otherSecrecy },
  });
  ctx.cache.invalidate("catalogue");
  return created;
}

/** SQL: makes those who add to a suite, or change its version, take turns. */
export function lockSuite(suiteId: string | null): SQL {
  return sql`select k.id from ${suites} k where k.id = ${suiteId}::uuid for no key update`;
}

/**
 * SQL: one row (`outcome`, `suite_id`, `suite_version`, `position`, `is_secret`): the place of a new task at the end of
 * its suite, if any, or in `outcome` why it may not be there. Where `isSecret` is null, it is as secret as its suite.
 */
export function placeIn(suiteId: string | null, isSecret: boolean | null): SQL {
  return sql`select k.id as suite_id, coalesce(k.version, 1) as suite_version,
      case when k.id is null then 0
        else (select coalesce(max(t.position), 0) + 1 from ${tasks} t where t.suite_id = k.id) end as position,
      coalesce(${isSecret}::boolean, k.is_secret, false) as is_secret,
      case when ${suiteId}::uuid is not null and k.id is null then 'no_suite'
        when k.is_secret <> ${isSecret}::boolean then 'other_secrecy' else 'done' end as outcome
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

/** The 404 for a task whose suite there is not. */
export function noSuite(): Problem {
  return notFound("suite");
}

/** The 422 for a task that is to be secret in a public suite, or open in a secret one. */
export function otherSecrecy(): Problem {
  const advice =
    "A secret suite holds only secret tasks, a public one holds none: leave is_secret out, or take another suite.";
  return bodyProblem("conflicting_parameters", "/is_secret", advice);
}
