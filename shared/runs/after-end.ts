import { type SQL, sql } from "drizzle-orm";
import { certifications, outbox, runs, screening_sessions } from "../db/schema/index.ts";
import { MESSAGE, oweAnew } from "../db/owed.ts";
import { isHeard, oweEvents, runEvents } from "./announcements.ts";

/** The parts of `afterEnd` whose rows are messages, for `owed`. */
export const AFTER_END = ["told", "compared", "judged"] as const;

/**
 * SQL: the parts `told`, `finished`, `compared` and `judged` of a statement whose part `ended` made runs final and
 * returned all their columns: announces the runs, marks each session that has no open run left as finished, once, has it
 * compared with the one before if a subscription is told of regressions, and its certification go on. One whose
 * certification is paused has runs ahead and is not finished. `AFTER_END` are its messages.
 */
export function afterEnd(ended: string, at: Date): SQL {
  const name = sql.identifier(ended);
  return sql`told as (${oweEvents(runEvents(sql`${name}`), at)}
  ), finished as (
    update ${screening_sessions} s set finished_at = ${at.toISOString()}::timestamptz
    where s.id in (select screening_session_id from ${name}) and s.finished_at is null
      and not exists (select from ${runs} r where r.screening_session_id = s.id and r.status in ('queued', 'running')
        and r.id not in (select id from ${name}))
      and not exists (select from ${certifications} c where c.screening_session_id = s.id and c.status = 'paused_quota')
    returning s.id, s.agent_id
  ), compared as (
    insert into ${outbox} (consumer, id, body)
    select 'regression', f.id, jsonb_build_object('screening_session_id', f.id)
    from finished f where ${isHeard(sql`'regression.detected'`, sql`f.agent_id`)}
    on conflict (consumer, id) do nothing returning ${MESSAGE}
  ), judged as (${oweAnew(
    "certify",
    sql`select c.id, (select count(*)::integer from ${runs} r where r.screening_session_id = f.id) as generation,
      jsonb_build_object('certification_id', c.id) as body, null as flow_key, null::timestamptz as not_before
    from finished f join ${certifications} c on c.screening_session_id = f.id and c.status = 'screening'`,
  )})`;
}
