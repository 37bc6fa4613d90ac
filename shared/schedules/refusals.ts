import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { inactive, retired } from "../agents/connection.ts";
import { type Refusal, telling } from "../db/change.ts";
import { suites } from "../db/schema/index.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { LIMITS } from "../runs/limits.ts";
import { type Submission, wantedTasks } from "../runs/submission.ts";
import { beyondPlan, planExceeded } from "../teams/limits.ts";

/** What a schedule runs, as it is submitted. */
export function tasksOf(suiteId: string | null, taskIds: string[] | null): Submission["tasks"] {
  return suiteId === null ? { kind: "exact", taskIds: taskIds ?? [] } : { kind: "suite", suiteId };
}

/**
 * SQL: why tasks can't be scheduled so many times each: `no_suite`, `no_task`, `task_retired`, `empty_suite`, `too_many`; null
 * when they can.
 */
export function faultOf(tasks: Submission["tasks"], repeats: SQL): SQL<string | null> {
  const suiteId = tasks.kind === "suite" ? tasks.suiteId : null;
  return sql`(select case
    when ${suiteId}::uuid is not null and not exists (
      select from ${suites} x where x.id = ${suiteId}::uuid and not x.is_secret) then 'no_suite'
    when count(*) filter (where missing) > 0 then 'no_task'
    when count(*) filter (where not ok) > 0 then 'task_retired'
    when count(*) = 0 then 'empty_suite'
    when count(*) * ${repeats} > ${LIMITS.runsPerBatch} then 'too_many' end
    from (${wantedTasks({ tasks })}) w)`;
}

/**
 * The conditions under which a schedule can't be, over a row `f` of the columns `allowed`, `is_retired`, `is_active`,
 * `fault` (as `faultOf` gives it), `plan_limit`, `is_beyond` and `used`, which is null where nothing is turned on.
 */
export const SCHEDULING = {
  forbidden: sql`not f.allowed`,
  retired: sql`f.is_retired`,
  inactive: sql`not f.is_active`,
  no_suite: sql`f.fault = 'no_suite'`,
  no_task: sql`f.fault = 'no_task'`,
  task_retired: sql`f.fault = 'task_retired'`,
  empty_suite: sql`f.fault = 'empty_suite'`,
  too_many: sql`f.fault = 'too_many'`,
  beyond: sql`f.is_beyond and f.used is not null`,
  quota: sql`f.used >= f.plan_limit`,
};

const Quota = z.object({ limit: z.int(), used: z.int() });

/** The problem of each condition. */
export const REFUSALS: Readonly<Record<keyof typeof SCHEDULING, Refusal>> = {
  forbidden: notAllowed,
  retired,
  inactive,
  no_suite: () => notFound("suite"),
  no_task: () => notFound("task"),
  task_retired: () => new Problem("task_unavailable", "At least one of these tasks is retired; name active ones."),
  empty_suite: () => new Problem("suite_unavailable", "There is no active task to run in this suite; choose another."),
  too_many: () =>
    new Problem(
      "suite_unavailable",
      `This takes more than the ${LIMITS.runsPerBatch} runs of one batch. Take fewer repeats, or name some of the suite's tasks.`,
    ),
  beyond: telling(Quota, ({ used }) => beyondPlan(used)),
  quota: telling(Quota, (quota) =>
    planExceeded(
      "schedules",
      quota,
      `The plan of the agent's owner allows ${quota.limit} active schedules.`,
      "Turn one off",
    ),
  ),
};

/** The 403 for somebody who sees a schedule without the right to screen its agent. */
export function notAllowed(): Problem {
  return new Problem(
    "forbidden",
    "Only the owner, or a runner of its workspace, may schedule screenings of this agent.",
  );
}
