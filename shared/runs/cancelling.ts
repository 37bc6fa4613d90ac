import { type SQL, sql } from "drizzle-orm";
import { giveBackAllowance } from "../allowances/take.ts";
import { runs, screening_sessions } from "../db/schema/index.ts";
import { type Ends, followUp } from "./follow-up.ts";
import { withdrawDispatch } from "./messages.ts";
import { askedLater, VERSION_IF_OVERTAKEN } from "./overtaken.ts";

/**
 * SQL: the parts `asked_later`, `ended` and `followUp`'s of a statement that cancels the queued runs within `scope` (a
 * condition over runs `r`) and gives their allowance back; `FOLLOW_UP` names those that owe messages, and `ends` is as there.
 * Running ones go on: what an agent was asked counts, however it ends. One that was overtaken by a later one of its task counts
 * as asked, too. A canary stays one even if all other runs of its task are cancelled: if it
 * counted then, whoever knows the samples by heart would cancel all else.
 * @example
 * sql`with ${cancelling(sql`r.screening_session_id = ${id}::uuid`, ctx.now())}` // then `owes: FOLLOW_UP`
 */
export function cancelling(scope: SQL, now: Date, ends: Ends = {}): SQL {
  return sql`${askedLater(sql`${scope} and r.status = 'queued'`)}, ended as (
      update ${runs} r set status = 'cancelled', canary = false, finalized_at = ${now.toISOString()}::timestamptz,
        suite_version = ${VERSION_IF_OVERTAKEN}
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
