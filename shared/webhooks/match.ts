import { type SQL, sql } from "drizzle-orm";

/**
 * SQL: whether the subscription row `w` is notified of events about the agent row `a`: it is on, belongs to the agent's
 * present owner, and is not limited to another agent. So whoever gave an agent away hears nothing of it any more.
 */
export const listensTo: SQL<boolean> = sql`(w.is_active and (w.agent_id is null or w.agent_id = a.id)
  and ((a.team_id is null and w.team_id is null and w.user_id = a.user_id) or w.team_id = a.team_id))`;
