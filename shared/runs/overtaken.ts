import { type SQL, sql } from "drizzle-orm";
import { runs, tasks } from "../db/schema/index.ts";

/** SQL: whether a run row may count as asked of its agent in earnest. */
const isEarnest = (run: SQL) => sql`(not ${run}.is_private and not ${run}.simulated and ${run}.trigger <> 'trial')`;

/**
 * SQL: the part `asked_later` of a statement that ends the runs within `scope` (a condition over runs `r`) before their agent
 * did: of each task the last run of its agent that was taken up although it was asked for later. Those that were asked for in
 * the same millisecond as one of these stand by themselves, with what they were asked for in.
 */
export function askedLater(scope: SQL): SQL {
  return sql`asked_later as materialized (
      select n.agent_id, n.task_id, b.beside, max(n.created_at) as created_at, max(n.id::text)::uuid as id
      from (select r.agent_id, min(r.id::text)::uuid as id, array_agg(distinct r.created_at) as times from ${runs} r
          where ${scope} and ${isEarnest(sql`r`)} group by 1) o
        join ${runs} n on n.agent_id = o.agent_id and n.id > o.id
        cross join lateral (select case when n.created_at = any (o.times)
          then coalesce(n.screening_session_id, n.id) end as beside) b
      where ${isEarnest(sql`n`)} and n.status in ('running', 'completed', 'failed')
        and n.failure_code is distinct from 'service_error'
      group by 1, 2, 3
    )`;
}

/**
 * SQL: the suite version that the run row `r` ends with by such a statement: that of its task if it was overtaken, so that it
 * counts as asked, else null. An agent that is slow, or can't be found for a while, has its runs overtaken, and who then picks
 * among the later ones could make up for it by the earlier ones. Of one batch none overtakes another.
 */
export const VERSION_IF_OVERTAKEN: SQL = sql`(select t.suite_version from asked_later n join ${tasks} t on t.id = n.task_id
  where n.agent_id = r.agent_id and n.task_id = r.task_id and ${isEarnest(sql`r`)}
    and (n.created_at > r.created_at or (n.id > r.id and n.beside <> coalesce(r.screening_session_id, r.id)))
  limit 1)`;
