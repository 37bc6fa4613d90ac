import { type SQL, sql } from "drizzle-orm";
import { agentOwner } from "../agents/conditions.ts";
import { agents, screening_schedules } from "../db/schema/index.ts";
import { isBeyondPlan, limitOf } from "../teams/limits.ts";
import { ownerOf } from "../teams/rights.ts";

/**
 * SQL: the columns `plan_limit`, how many active schedules the account or workspace of the agent row `a` is allowed, and
 * `is_beyond`, whether it is a workspace that the plan does not include.
 */
export function scheduleLimit(now: Date): SQL {
  return sql`${limitOf(now, agentOwner, "schedules")} as plan_limit, ${isBeyondPlan(now, agentOwner)} as is_beyond`;
}

/**
 * SQL: how many active schedules `o` that meet a condition the account or workspace of the agent row `a` has. Those of an
 * agent that is off start nothing, and are not counted: each is turned off when it is due. If the agent is activated again,
 * they are judged anew by the time that they are due.
 */
export function activeSchedules(condition: SQL): SQL<number> {
  return sql`(select count(*)::integer from ${screening_schedules} o join ${agents} b on b.id = o.agent_id
    where o.is_active and b.is_active and ${condition} and coalesce(b.team_id, b.user_id) = ${ownerOf(agentOwner)})`;
}
