import { type SQL, sql } from "drizzle-orm";
import { accountOf } from "../agents/account.ts";
import { agentOwner } from "../agents/conditions.ts";
import { agents, screening_schedules, users } from "../db/schema/index.ts";
import { planLimit } from "../plans/plans.ts";
import { ownerOf } from "../teams/rights.ts";

/** SQL: how many active schedules the account or workspace of the agent row `a` is allowed by the plan that pays for it. */
export const scheduleLimit: SQL<number> = sql`(select ${planLimit(sql`u.plan`, "schedules")}
  from ${users} u where u.id = ${accountOf(agentOwner)})`;

/** SQL: how many active schedules `o` that meet a condition the account or workspace of the agent row `a` has. */
export function activeSchedules(condition: SQL): SQL<number> {
  return sql`(select count(*)::integer from ${screening_schedules} o join ${agents} b on b.id = o.agent_id
    where o.is_active and ${condition} and coalesce(b.team_id, b.user_id) = ${ownerOf(agentOwner)})`;
}
