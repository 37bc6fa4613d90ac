import { type SQL, sql } from "drizzle-orm";
import { agents, outbox, runs, screening_sessions } from "../db/schema/index.ts";
import { MESSAGE } from "../queue/owed.ts";
import { isHeard, oweEvents, runEvents } from "./announcements.ts";

/**
 * SQL: locks the rows of the agents whose ids the query `ids` yields. Runs become final under this lock, sent before in
 * the same transaction: so what one end sums up holds all that came before, and of a session one end sees itself last.
 */
export function lockAgents(ids: SQL): SQL {
  return sql`select from ${agents} where id in (${ids}) order by id for no key update`;
}

/**
 * SQL: the parts `told`, `finished` and `compared` of a statement whose part `ended` made runs final and returned all
 * their columns: announces the runs, marks each session that has no open run left as finished, once, and has it
 * compared with the one before if a subscription is told of regressions. `owed("told", "compared")` are its messages.
 */
export function afterEnd(ended: string, at: Date): SQL {
  const name = sql.identifier(ended);
  return sql`told as (${oweEvents(runEvents(sql`${name}`), at)}
  ), finished as (
    update ${screening_sessions} s set finished_at = ${at.toISOString()}::timestamptz
    where s.id in (select screening_session_id from ${name}) and s.finished_at is null
      and not exists (select from ${runs} r where r.screening_session_id = s.id and r.status in ('queued', 'running')
        and r.id not in (select id from ${name}))
    returning s.id, s.agent_id
  ), compared as (
    insert into ${outbox} (consumer, id, body)
    select 'regression', f.id, jsonb_build_object('screening_session_id', f.id)
    from finished f where ${isHeard(sql`'regression.detected'`, sql`f.agent_id`)}
    returning ${MESSAGE}
  )`;
}
