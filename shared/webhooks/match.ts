import { type SQL, sql } from "drizzle-orm";

/**
 * SQL: whether the subscription row `w` is told of events about the agent row `a`: it is on, of the agent's present
 * owner, and not for another agent alone. So one who gave an agent away learns nothing of it any more.
 */
export const listensTo: SQL<boolean> = sql`(w.is_active and (w.agent_id is null or w.agent_id = a.id)
  and ((a.team_id is null and w.team_id is null and w.user_id = a.user_id) or w.team_id = a.team_id))`;
