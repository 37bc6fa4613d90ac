import { type SQL, sql } from "drizzle-orm";
import { owePagesEnd } from "../billing/closing.ts";
import { agents, certifications } from "../db/schema/index.ts";

/** SQL: the certifications `c` of the agents of the workspaces in `teamIds`, a query of ids, that nobody has paid. */
const unpaidOf = (teamIds: SQL): SQL => sql`select c.id, c.checkout_session_id from ${certifications} c
  join ${agents} a on a.id = c.agent_id where c.status = 'awaiting_payment' and a.team_id in (${teamIds})`;

/**
 * SQL: a part of a statement that owes the queue the end of the pages at which certifications of these workspaces' agents
 * could still be paid: nobody would get what was paid for.
 */
export function endPagesOfTeams(teamIds: SQL): { owes: SQL } {
  return { owes: owePagesEnd(unpaidOf(teamIds)) };
}

/** SQL: a part of a statement that deletes those certifications; one that is paid at this very moment stays. */
export function removeUnpaidOfTeams(teamIds: SQL): SQL {
  return sql`delete from ${certifications} c using (${unpaidOf(teamIds)}) u
    where c.id = u.id and c.status = 'awaiting_payment'`;
}
