import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { inactive, retired } from "../agents/connection.ts";
import { agentOwner } from "../agents/view.ts";
import { agents, screening_schedules, suites } from "../db/schema/index.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { type Submission, wantedTasks } from "../runs/submit.ts";
import { may } from "../teams/rights.ts";
import type { ScheduleRead } from "./schemas.ts";

/** ScheduleRead as the database gives it. */
export type ScheduleRow = z.output<typeof ScheduleRead>;

/** SQL: the JSON of the schedule row `s`. */
export const scheduleJson: SQL = sql`jsonb_build_object('id', s.id, 'agent_id', s.agent_id, 'user_id', s.user_id,
  'suite_id', s.suite_id, 'task_ids', s.task_ids, 'repeats', s.repeats, 'cron', s.cron, 'timezone', s.timezone,
  'is_active', s.is_active, 'next_run_at', s.next_run_at, 'last_run_at', s.last_run_at,
  'last_screening_session_id', s.last_screening_session_id, 'last_error', s.last_error, 'created_at', s.created_at)`;

/** SQL: the schedules of agents that the viewer has or shares; `allowed` says whether the viewer may screen the agent. */
export function visibleSchedules(viewer: string): SQL {
  return sql`select s.*, ${may("run", viewer, agentOwner)} as allowed
    from ${screening_schedules} s join ${agents} a on a.id = s.agent_id where ${may("see", viewer, agentOwner)}`;
}

/** What a schedule runs, as it is submitted. */
export function tasksOf(suiteId: string | null, taskIds: string[] | null): Submission["tasks"] {
  return suiteId === null ? { kind: "exact", taskIds: taskIds ?? [] } : { kind: "suite", suiteId };
}

/** SQL: why tasks can't be scheduled: `no_suite`, `no_task`, `task_retired`, `empty_suite`; null when they can. */
export function faultOf(tasks: Submission["tasks"]): SQL<string | null> {
  const suiteId = tasks.kind === "suite" ? tasks.suiteId : null;
  return sql`(select case
    when ${suiteId}::uuid is not null and not exists (
      select from ${suites} x where x.id = ${suiteId}::uuid and not x.is_secret) then 'no_suite'
    when count(*) filter (where missing) > 0 then 'no_task'
    when count(*) filter (where not ok) > 0 then 'task_retired'
    when count(*) = 0 then 'empty_suite' end
    from (${wantedTasks({ tasks })}) w)`;
}

/** What a change of a schedule came to. */
export interface Outcome {
  outcome:
    | "done"
    | "no_agent"
    | "forbidden"
    | "retired"
    | "inactive"
    | "no_suite"
    | "no_task"
    | "task_retired"
    | "empty_suite"
    | "quota";
  limit: number | null;
  used: number | null;
  schedule: ScheduleRow | null;
}

/** The schedule that was made or changed; throws the problem that stands for any other outcome. */
export function judge({ outcome, limit, used, schedule }: Outcome): ScheduleRow {
  switch (outcome) {
    case "no_agent":
      throw notFound("agent");
    case "forbidden":
      throw notAllowed();
    case "retired":
      throw retired();
    case "inactive":
      throw inactive();
    case "no_suite":
      throw notFound("suite");
    case "no_task":
      throw notFound("task");
    case "task_retired":
      throw new Problem("task_unavailable", "At least one of these tasks is retired; name active ones.");
    case "empty_suite":
      throw new Problem("suite_unavailable", "There is no active task to run in this suite; choose another.");
    case "quota":
      throw new Problem(
        "quota_exceeded",
        `The plan of the agent's owner allows ${limit} active schedules. Turn one off or upgrade.`,
        { members: { limit, used, resets_at: null } },
      );
    default:
      return schedule as ScheduleRow;
  }
}

/** The 403 for somebody who sees a schedule without the right to screen its agent. */
export function notAllowed(): Problem {
  return new Problem(
    "forbidden",
    "Only the owner, or a runner of its workspace, may schedule screenings of this agent.",
  );
}
