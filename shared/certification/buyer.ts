import { type SQL, sql } from "drizzle-orm";
import { accountOf } from "../agents/account.ts";
import { agentOwner } from "../agents/conditions.ts";
import { may } from "../teams/rights.ts";

/**
 * SQL: whose the certification row `c` of the agent row `a` is now: the buyer's as long as they may see the agent, else the
 * account's that the agent counts against. In this account's name its runs are made, and it hears of the verdict.
 */
export const buyerNow: SQL = sql`case when ${may("see", sql`c.user_id`, agentOwner)} then c.user_id
  else ${accountOf(agentOwner)} end`;
