import { type SQL, sql } from "drizzle-orm";
import { accountOf } from "../agents/account.ts";
import { agentOwner } from "../agents/conditions.ts";
import { type Moment, momentSql } from "../db/instant.ts";
import { agents, certifications, isOpenRun, runs, screening_sessions, users } from "../db/schema/index.ts";
import { oweAnew } from "../db/owed.ts";
import { wants } from "../mail/owe-notice.ts";
import { isHeard, oweEvents, runEvents, sessionEvents } from "./announcements.ts";

/** The parts of `followUp` whose rows are messages. */
export const FOLLOW_UP = ["announced", "ends", "comparisons", "settlements", "certifications"] as const;

/** SQL: whether the account of the agent that the row `f` names gets mails of regressions. */
const isWanted: SQL<boolean> = sql`exists (select from ${agents} a join ${users} u on u.id = ${accountOf(agentOwner)}
  where a.id = f.agent_id and ${wants("regression")})`;

/** SQL: whether the agent of the session row `f` has a session that finished before. */
const hasBaseline: SQL<boolean> = sql`exists (select from ${screening_sessions} p
  where p.agent_id = f.agent_id and p.finished_at is not null and p.id <> f.id)`;

/**
 * SQL: a part that owes the comparison of each session of `finished` (columns `id`, `agent_id`) with the one before it, if
 * there is one, and a subscription or the agent's account listens for regressions.
 */
export function oweComparisons(finished: SQL): SQL {
  return oweAnew(
    "regression",
    sql`select f.id, 0 as generation, jsonb_build_object('screening_session_id', f.id) as body, null as flow_key,
      null::timestamptz as not_before
    from (${finished}) f
    where ${hasBaseline} and (${isHeard(sql`'regression.detected'`, sql`f.agent_id`)} or ${isWanted})`,
  );
}

/** What else a statement does to the sessions whose runs it makes final. */
export interface Ends {
  /** SQL, beginning with a comma, that is set of each session that finishes: no row can be updated twice in a statement. */
  also?: SQL;
  /**
   * SQL: a query of the ids of sessions whose certification the same statement ends without a verdict. The statement still
   * sees it go on; they finish if no run is open any more, also where none ended just now.
   */
  called_off?: SQL;
}

/**
 * SQL: the parts `announced`, `finished`, `ends`, `comparisons`, `settlements` and `certifications` of a statement whose part `ended` made runs final
 * and returned all their columns. They announce the runs and mark each session without an open run as finished, once. A
 * session that finishes is announced, too, and compared with the one before it, if a subscription listens for regressions:
 * after it was settled, where results of its runs were held back, and with the verdict, where its certification may add runs; and its certification goes on. The session of a paused certification does not finish, because more of its runs will come.
 * `FOLLOW_UP` names the parts that owe messages.
 */
export function followUp(ended: string, at: Moment, { also = sql``, called_off: calledOff }: Ends = {}): SQL {
  const name = sql.identifier(ended);
  const isCalledOff = (id: SQL) => (calledOff === undefined ? sql`false` : sql`${id} in (${calledOff})`);
  // What this statement made final is told by its own rows: the table still has them as they were.
  const isHeld = sql`exists (select from ${runs} r where r.screening_session_id = f.id and r.canary is null
    and r.id not in (select id from ${name} where canary is not null))`;
  const isCertifying = sql`exists (select from ${certifications} c
    where c.screening_session_id = f.id and c.status = 'screening' and not ${isCalledOff(sql`f.id`)})`;
  return sql`announced as (${oweEvents(runEvents(sql`${name}`), at)}
  ), finished as (
    update ${screening_sessions} s set finished_at = coalesce(s.finished_at, ${momentSql(at)}) ${also}
    where s.id in (select screening_session_id from ${name} ${calledOff === undefined ? sql`` : sql`union ${calledOff}`})
      and (${isCalledOff(sql`s.id`)} or (s.finished_at is null
        and not exists (select from ${certifications} c where c.screening_session_id = s.id and c.status = 'paused_quota')))
      and not exists (select from ${runs} r where r.screening_session_id = s.id and ${isOpenRun(sql`r.status`)}
        and r.id not in (select id from ${name}))
    returning s.id, s.agent_id, s.suite_id, s.trigger, s.cancelled_at
  ), ends as (${oweEvents(sessionEvents(sql`select * from finished f where not ${isHeld} and not ${isCertifying}`, sql`${name}`), at)}
  ), comparisons as (${oweComparisons(sql`select * from finished f where not ${isHeld} and not ${isCertifying}`)}
  ), settlements as (${oweAnew(
    "settle",
    sql`select f.id, 0 as generation, jsonb_build_object('screening_session_id', f.id) as body, null as flow_key,
      null::timestamptz as not_before
    from finished f where ${isHeld}`,
  )}), certifications as (${oweAnew(
    "certify",
    sql`select c.id, (select count(*)::integer from ${runs} r where r.screening_session_id = f.id) as generation,
      jsonb_build_object('certification_id', c.id) as body, null as flow_key, null::timestamptz as not_before
    from finished f join ${certifications} c on c.screening_session_id = f.id and c.status = 'screening'
    where not ${isCalledOff(sql`f.id`)}`,
  )})`;
}
