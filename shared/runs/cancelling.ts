import { type SQL, sql } from "drizzle-orm";
import { giveBackAllowance } from "../allowances/take.ts";
import { runs, screening_sessions, tasks } from "../db/schema/index.ts";
import { type Ends, followUp } from "./follow-up.ts";
import { withdrawDispatch } from "./messages.ts";

/**
 * SQL: the parts `asked_later`, `ended` and `followUp`'s of a statement that cancels the queued runs within `scope` (a
 * condition over runs `r`) and gives their allowance back; `FOLLOW_UP` names those that owe messages, and `ends` is as there.
 * Running ones go on: what an agent was asked counts, however it ends. One that was overtaken by a later one of its task counts
 * as asked, which its `suite_version` says: an agent that is slow has its runs overtaken, and who then picks among the later
 * ones could make up for it by the earlier ones. A canary stays one even if all other runs of its task are cancelled: if it
 * counted then, whoever knows the samples by heart would cancel all else.
 * @example
 * sql`with ${cancelling(sql`r.screening_session_id = ${id}::uuid`, ctx.now())}` // then `owes: FOLLOW_UP`
 */
export function cancelling(scope: SQL, now: Date, ends: Ends = {}): SQL {
  const isEarnest = (run: SQL) => sql`not ${run}.is_private and not ${run}.simulated and ${run}.trigger <> 'trial'`;
  return sql`asked_later as materialized (
      select n.agent_id, n.task_id, max(n.created_at) as created_at
      from (select r.agent_id, min(r.id::text)::uuid as id from ${runs} r
          where ${scope} and r.status = 'queued' and ${isEarnest(sql`r`)} group by 1) o
        join ${runs} n on n.agent_id = o.agent_id and n.id > o.id
      where ${isEarnest(sql`n`)} and n.status in ('running', 'completed', 'failed')
        and n.failure_code is distinct from 'service_error'
      group by 1, 2
    ), ended as (
      update ${runs} r set status = 'cancelled', canary = false, finalized_at = ${now.toISOString()}::timestamptz,
        suite_version = (select t.suite_version from asked_later n join ${tasks} t on t.id = n.task_id
          where n.agent_id = r.agent_id and n.task_id = r.task_id and n.created_at > r.created_at and ${isEarnest(sql`r`)})
      where ${scope} and r.status = 'queued' returning r.*
    ), refunded as (${giveBackAllowance(sql`select paid_kind, paid_owner, paid_period from ended`)}
    ), taken_back as (${withdrawDispatch("ended")}
    ), ${followUp("ended", now, ends)}`;
}

/** As `cancelling`; what is queued of a session makes that `cancelled`, once the rest is final. */
export function callingOff(scope: SQL, now: Date): SQL {
  const mark = sql`cancelled_at = ${now.toISOString()}::timestamptz`;
  return sql`${cancelling(scope, now, { also: sql`, ${mark}` })}, marked as (
      update ${screening_sessions} s set ${mark}
      where s.id in (select screening_session_id from ended) and s.id not in (select id from finished)
        and s.cancelled_at is null
    )`;
}
