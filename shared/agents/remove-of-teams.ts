import { type SQL, sql } from "drizzle-orm";
import { agents } from "../db/schema/index.ts";
import { deleteTokens } from "../telemetry/token.ts";
import { switchOffAndDiscard } from "./parts.ts";

/** SQL: the agents of the workspaces in `teamIds`, a query of ids. */
const agentsOfTeams = (teamIds: SQL): SQL => sql`select x.id from ${agents} x where x.team_id in (${teamIds})`;

/**
 * SQL: a part of a statement that discards what these workspaces' agents keep to be called with: they stay for their evidence,
 * and nobody could discard it any more.
 */
export function discardCredentialsOfTeams(teamIds: SQL): SQL {
  return switchOffAndDiscard(agentsOfTeams(teamIds));
}

/** SQL: a part of a statement that ends these agents' receiver tokens, which work for an agent that is switched off, too. */
export function endTokensOfTeams(teamIds: SQL): SQL {
  return deleteTokens(agentsOfTeams(teamIds));
}
