import { type SQL, sql } from "drizzle-orm";

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
  return sql`(w.is_active and ((${kind} = 'team' and w.team_id = ${holder}::uuid)
    or (${kind} = 'user' and w.team_id is null and w.user_id = ${holder}::uuid)))`;
}
