import { type SQL, sql } from "drizzle-orm";
import { agentOwner, agentsOf } from "../agents/conditions.ts";
import { UNLIMITED } from "../db/listing.ts";
import { agents, screening_schedules } from "../db/schema/index.ts";
import { waitingSchedules } from "./limit.ts";
import { may, ofOwners } from "../teams/rights.ts";

/** SQL: the JSON of the schedule row `s` as a viewer sees it. */
export function scheduleJson(now: Date, viewer: string): SQL {
  return sql`(select json_build_object('id', s.id, 'agent_id', s.agent_id, 'agent_name', a.name,
    'may_change', ${may("run", viewer, agentOwner)}, 'user_id', s.user_id,
    'suite_id', s.suite_id, 'task_ids', s.task_ids, 'repeats', s.repeats, 'cron', s.cron, 'timezone', s.timezone,
    'is_active', s.is_active, 'waits_for_plan', s.is_active and s.id in (${waitingSchedules(now, viewer)}),
    'next_run_at', s.next_run_at, 'last_run_at', s.last_run_at,
    'last_screening_session_id', s.last_screening_session_id, 'last_error', s.last_error, 'created_at', s.created_at)
    from ${agents} a where a.id = s.agent_id)`;
}

/** SQL: the schedules of agents that the viewer has or shares. */
export function schedulesOfOwners(viewer: string): SQL {
  return ofOwners(
    "see",
    viewer,
    (owner) => sql`select s.* from (${agentsOf(owner)}) a cross join lateral (
      select s.* from ${screening_schedules} s where s.agent_id = a.id ${UNLIMITED}) s`,
  );
}

/** SQL: the same ones, for one of them to be picked by its id; `allowed` says whether the viewer may screen the agent. */
export function visibleSchedules(viewer: string): SQL {
  return sql`select s.*, ${may("run", viewer, agentOwner)} as allowed
    from ${screening_schedules} s join ${agents} a on a.id = s.agent_id where ${may("see", viewer, agentOwner)}`;
}
