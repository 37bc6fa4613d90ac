import { type SQL, sql } from "drizzle-orm";
import { webhooks } from "../db/schema/index.ts";

// Subscriptions are found by the index of their owner, a workspace or an account, in one search.

/**
 * SQL: whether the subscription row `w` is notified of events about the agent row `a`: it is on, belongs to the agent's
 * present owner, and is not limited to another agent. So whoever gave an agent away hears nothing of it any more.
 */
export const listensTo: SQL<boolean> = sql`(w.is_active and (w.agent_id is null or w.agent_id = a.id)
  and coalesce(w.team_id, w.user_id) = coalesce(a.team_id, a.user_id) and (w.team_id is null) = (a.team_id is null))`;

/**
 * SQL: whether the subscription row `w` is notified of events about an account (`kind` is `user`) or a workspace (`team`)
 * whose id is the text `holder`: it is on and belongs to it, be it limited to an agent or not.
 */
export function isHeldBy(kind: SQL, holder: SQL): SQL<boolean> {
  return sql`(w.is_active and coalesce(w.team_id, w.user_id) = case when ${kind} in ('team', 'user') then ${holder}::uuid end
    and (w.team_id is not null) = (${kind} = 'team'))`;
}

/**
 * SQL: a query of the subscriptions `w` to events of this type of which the condition holds, `listensTo` or `isHeldBy`.
 * `offset 0` has it made for each agent or holder by itself, by the index of their owner: where a plan is kept, a join could
 * begin with all subscriptions that there are.
 */
export function subscribers(condition: SQL<boolean>, type: SQL): SQL {
  return sql`select w.id from ${webhooks} w where ${condition} and ${type} = any(w.event_types) offset 0`;
}
