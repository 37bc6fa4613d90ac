import { type SQL, sql } from "drizzle-orm";
import { type Moment, momentSql, utcText } from "../db/instant.ts";
import { owe } from "../db/owed.ts";
import { agents, isFinishedRun, runs, screening_sessions } from "../db/schema/index.ts";
import { monthEnd } from "../plans/plans.ts";
import { isHeldBy, listensTo, subscribers } from "../webhooks/match.ts";
import { runJson, TIMES } from "./view.ts";

/** SQL: whether a subscription listens for events of this type about this agent. */
export function isHeard(type: SQL, agentId: SQL): SQL<boolean> {
  return sql`exists (select from ${agents} a cross join lateral (${subscribers(listensTo, type)}) w where a.id = ${agentId})`;
}

/**
 * SQL: a part of a statement that owes the consumer `announce` each of `events` (columns `agent_id`, `type`, `data`) that
 * a subscription listens for; if none does, nothing is written. Its rows are what `owed` collects.
 */
export function oweEvents(events: SQL, at: Moment): SQL {
  return owe(
    "announce",
    sql`e.id`,
    sql`jsonb_build_object('id', e.id, 'type', e.type, 'created_at', ${utcText(momentSql(at))}, 'agent_id', e.agent_id,
      'data', e.data)`,
    sql`from (select uuidv7() as id, x.* from (${events}) x where ${isHeard(sql`x.type`, sql`x.agent_id`)}) e`,
  );
}

/**
 * SQL: the events about the runs that `ended` (a part of the statement, with all columns of runs): each run as anybody
 * who sees it reads it. There is none for a cancelled run, nor for a trial, which belongs to its visitor and not to the
 * agent's owner.
 */
export function runEvents(ended: SQL): SQL {
  return sql`select r.agent_id, 'run.' || r.status as type, jsonb_build_object('run',
      ${runJson(sql`false`, TIMES)}) as data
    from ${ended} r where ${isFinishedRun(sql`r.status`)} and r.trigger <> 'trial'`;
}

/** SQL: the runs of the session row `f`, as `sessionEvents` counts them. */
const RUNS_OF: SQL = sql`select r.status, r.passed from ${runs} r where r.screening_session_id = f.id`;

/**
 * SQL: the event that each session of `over` (a query of their ids) is over. Where runs of theirs end in this very
 * statement, `ended` names the part that returned them, since the table still has them as they were, and `over` is a part
 * that returned the sessions' columns `id`, `agent_id`, `suite_id`, `trigger` and `cancelled_at`.
 */
export function sessionEvents(over: SQL, ended?: SQL): SQL {
  const sessions = ended === undefined ? sql`select s.* from ${screening_sessions} s where s.id in (${over})` : over;
  const made =
    ended === undefined
      ? RUNS_OF
      : sql`${RUNS_OF} and r.id not in (select id from ${ended})
        union all select e.status, e.passed from ${ended} e where e.screening_session_id = f.id`;
  const count = (status: string) => sql`count(*) filter (where r.status = ${sql.raw(`'${status}'`)})`;
  return sql`select f.agent_id, 'session.completed' as type, jsonb_build_object('agent_id', f.agent_id,
      'screening_session_id', f.id, 'suite_id', f.suite_id, 'trigger', f.trigger,
      'status', case when f.cancelled_at is not null or x.cancelled = x.total then 'cancelled' else 'completed' end,
      'counts', jsonb_build_object('completed', x.completed, 'failed', x.failed, 'cancelled', x.cancelled,
        'passed', x.passed)) as data
    from (${sessions}) f cross join lateral (
      select count(*) as total, ${count("completed")} as completed, ${count("failed")} as failed,
        ${count("cancelled")} as cancelled, count(*) filter (where r.passed) as passed from (${made}) r) x`;
}

/**
 * SQL: a part of a statement that owes the consumer `announce` that allowances are used up, to the accounts and workspaces
 * whose they are: of what `{told}_told` has for the first time, where `tellOfAllowance` made the parts of that name. Its rows
 * are what `owed` collects.
 */
export function oweExhausted(told: string, now: Date): SQL {
  const data = sql`jsonb_build_object('team_id', case e.kind when 'team' then e.owner end, 'period', e.period,
    'limit', e.run_limit, 'used', e.used, 'resets_at', ${utcText(momentSql(monthEnd(now)))})`;
  return owe(
    "announce",
    sql`e.id`,
    sql`jsonb_build_object('id', e.id, 'type', 'allowance.exhausted', 'created_at', ${utcText(momentSql(now))},
      'holder', jsonb_build_object('kind', e.kind, 'id', e.owner), 'data', ${data})`,
    sql`from (select uuidv7() as id, x.* from ${sql.identifier(`${told}_told`)} x
      where x.notice = 'allowance_exhausted' and exists (
        ${subscribers(isHeldBy(sql`x.kind`, sql`x.owner`), sql`'allowance.exhausted'`)})) e`,
  );
}
