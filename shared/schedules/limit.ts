import { type SQL, sql } from "drizzle-orm";
import { agentOwner, agentsOf } from "../agents/conditions.ts";
import { UNLIMITED } from "../db/listing.ts";
import { agents, screening_schedules } from "../db/schema/index.ts";
import { isBeyondPlan, limitOf } from "../teams/limits.ts";
import { ofOwners, ownerOf } from "../teams/rights.ts";

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

/**
 * SQL: a query of the ids of the active schedules that their plans have no room for, which are the youngest, of all agents
 * that the viewer has or shares. It depends on no row beside it: whoever asks of many schedules whether they are among these
 * reads the agents of an owner, who may have any number, once and not for each of them.
 */
export function waitingSchedules(now: Date, viewer: string): SQL {
  const owner = { user_id: sql`w.user_id`, team_id: sql`w.team_id` };
  return ofOwners(
    "see",
    viewer,
    (id) => sql`select w.id from (
      select o.id, a.user_id, a.team_id, row_number() over (order by o.id) as place from (${agentsOf(id)}) a
        cross join lateral (select o.id from ${screening_schedules} o where o.agent_id = a.id and o.is_active ${UNLIMITED}) o
      where a.is_active) w where w.place > ${limitOf(now, owner, "schedules")}`,
  );
}
