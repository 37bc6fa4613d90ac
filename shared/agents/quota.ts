import { type SQL, sql } from "drizzle-orm";
import { agents } from "../db/schema/index.ts";
import { limitOf } from "../teams/limits.ts";
import { ownerOf } from "../teams/rights.ts";

/** Up to how many agents are counted for an answer to tell, where the limit is less. */
const MOST_TOLD = 1000;

/**
 * SQL: a FROM item `quota` of how many active agents the plan allows `owner`, an account or a workspace (`agent_limit`, null is
 * unlimited), and how many it has (`used`, 1,000 or the limit at most). Where nothing is `counted` against it, and where there
 * is no limit, none are looked at. The owner's accounts are locked before, so that none is made meanwhile.
 */
export function agentQuotaOf(now: Date, owner: { user_id: SQL; team_id: SQL }, counted: SQL = sql`true`): SQL {
  // By the order of the index on owners, so that it is led by it; with an offset, so that each is found once.
  return sql`lateral (
    select l.agent_limit, case when l.agent_limit is null then 0 else (select count(*)::integer from (
      select from ${agents} o where ${ownerOf({ user_id: sql`o.user_id`, team_id: sql`o.team_id` })} = ${ownerOf(owner)}
        and o.is_active order by o.created_at desc, o.id desc limit greatest(l.agent_limit, ${MOST_TOLD})) x) end as used
    from (select case when ${counted} then ${limitOf(now, owner, "agents")} end as agent_limit offset 0) l offset 0
  ) quota`;
}
