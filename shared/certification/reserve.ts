import { type SQL, sql } from "drizzle-orm";
import { accountOf } from "../agents/account.ts";
import { agentOwner, hasEndpoint } from "../agents/conditions.ts";
import { takeAllowance } from "../allowances/take.ts";
import { tellOfAllowance } from "../billing/used-up.ts";
import { agents, runs, tasks } from "../db/schema/index.ts";
import { monthEnd, monthOf } from "../plans/plans.ts";
import { oweExhausted } from "../runs/announcements.ts";
import { reserveRuns } from "../runs/reserve.ts";
import { BEYOND_PLAN, limitOf } from "../teams/limits.ts";
import { isAsked } from "./rules.ts";
import { MOST_AGAIN, REPEATS } from "./terms.ts";

/** The kind of the allowance that the price of a certification includes. */
const INCLUDED = "certification";

/**
 * SQL: whether the run `r` is paid by the allowance that came with its certification. A run that failed by our fault, or
 * was cancelled before it was called, no longer counts.
 */
const usesIncluded: SQL = sql`(r.paid_kind = ${INCLUDED} and r.failure_code is distinct from 'service_error'
  and not (r.status = 'cancelled' and r.started_at is null))`;

/** SQL: how many of the `included` runs of a certification are left, after those that its `session` has used. */
export function includedLeft(included: SQL, session: SQL): SQL {
  return sql`greatest(0, ${included} - (select count(*) from ${runs} r
    where r.screening_session_id = ${session} and ${usesIncluded}))::integer`;
}

/** SQL: the monthly allowance of the agent row `a`, and how many runs its plan has in a month. */
export function payerAt(now: Date): Record<"kind" | "owner" | "limit", SQL> {
  return {
    kind: sql`case when a.team_id is null then 'user' else 'team' end`,
    owner: sql`coalesce(a.team_id, a.user_id)::text`,
    limit: limitOf(now, agentOwner, "runs"),
  };
}

/** The parts of `reserving` whose rows are messages. */
export const RESERVING = ["dispatches", "warned", "exhausted"] as const;

/**
 * SQL: the parts of a statement that reserve runs for its part `target` (at most one row: certification_id, session_id,
 * agent_id, buyer_id, runs_included): as many whole tasks of its part `plan` as are paid for, in order, first by the
 * included allowance, then by the monthly one of the agent's account. A run that failed by our fault is reserved again: some
 * times at once, then no more than once a day; a task that was retired for good is left out. The part `next_state` has one row for the target, with the `status` and the `paused_reason`
 * that the certification then has; the parts that `RESERVING` names owe messages.
 */
export function reserving(now: Date): SQL {
  const payer = payerAt(now);
  const today = `${now.toISOString().slice(0, 10)}T00:00:00Z`;
  return sql`terms as (
    select x.*, a.team_id, ${hasEndpoint} as is_live, ${payer.kind} as paid_kind,
      ${payer.owner} as paid_owner, ${payer.limit} as run_limit,
      ${includedLeft(sql`x.runs_included`, sql`x.session_id`)} as included_left
    from target x join ${agents} a on a.id = x.agent_id
  ), slots as (
    select p.position, n as repeat_index, t.id as task_id, t.suite_id,
      row_number() over (order by p.position, n) <= x.included_left as is_included
    from terms x cross join plan p join ${tasks} t on t.id = p.task_id and ${isAsked}
      cross join generate_series(1, ${REPEATS}::integer) n
      cross join lateral (
        select count(*) as made, count(*) filter (where r.failure_code is distinct from 'service_error') as valid,
          max(r.created_at) as last_at
        from ${runs} r where r.screening_session_id = x.session_id and r.position = p.position and r.repeat_index = n) g
    where g.valid = 0 and (g.made <= ${MOST_AGAIN} or g.last_at < ${today}::timestamptz)
  ), needed as (
    select position, sum(count(*) filter (where not is_included)) over (order by position)::integer as units
    from slots group by position
  ), paid as (
    ${takeAllowance(
      sql`select x.paid_kind, x.paid_owner, ${monthOf(now)},
          coalesce((select max(units) from needed where units <= x.run_limit), 0)
        from terms x where x.is_live and exists (select from needed where units > 0)`,
      { units: sql`coalesce((select max(n.units) from needed n, terms x where n.units <= x.run_limit - w.used), 0)` },
    )}
  ), ${tellOfAllowance(
    "warned",
    sql`select ${accountOf(agentOwner)} as user_id, x.paid_kind as kind, x.paid_owner as owner, ${monthOf(now)} as period,
      p.used, p.units, x.run_limit, x.agent_id from paid p cross join terms x join ${agents} a on a.id = x.agent_id`,
  )}, exhausted as (${oweExhausted("warned", now)}), ${reserveRuns(
    sql`select x.agent_id, s.task_id, 'certification' as trigger, false as simulated, false as is_private,
      x.session_id as screening_session_id, s.position, s.repeat_index, ${REPEATS}::integer as repeat_total,
      x.buyer_id as user_id, null::uuid as api_key_id, x.team_id, case when s.is_included then ${INCLUDED} else x.paid_kind end as paid_kind,
      case when s.is_included then x.certification_id::text else x.paid_owner end as paid_owner,
      ${monthOf(now)} as paid_period, s.suite_id, false as canary
    from terms x cross join slots s join needed n on n.position = s.position
      and n.units <= coalesce((select units from paid), 0)
    where x.is_live`,
    now,
  )}, next_state as (
    select x.*, case when w.is_waiting then 'paused_quota' else 'screening' end as status,
      case when w.is_waiting then case when not x.is_live then ${NOT_LIVE}
        when x.run_limit = 0 then ${`quota: ${BEYOND_PLAN}`} else ${quotaReason(now)} end end as paused_reason
    from terms x cross join lateral (
      select exists (select from needed where not x.is_live or units > coalesce((select units from paid), 0))
        as is_waiting) w
  )`;
}

const NOT_LIVE =
  "The agent can't be called: it is deactivated or has no endpoint. The screening continues once it can be called again.";

function quotaReason(now: Date): string {
  const renewal = monthEnd(now).toISOString().slice(0, 10);
  return (
    "quota: The runs that came with the price are used, and what is left of the monthly allowance does not cover the tasks " +
    `that were added since. The screening continues when the allowance renews on ${renewal}, or sooner with a larger plan.`
  );
}
