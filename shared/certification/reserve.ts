import { type SQL, sql } from "drizzle-orm";
import { accountOf } from "../agents/account.ts";
import { agentOwner, hasEndpoint } from "../agents/view.ts";
import { takeAllowance } from "../billing/allowances.ts";
import { monthEnd, monthOf, planLimit } from "../billing/plans.ts";
import { agents, outbox, runs, screening_sessions, tasks, users } from "../db/schema/index.ts";
import { runIdAt } from "../db/run-id.ts";
import type { Context } from "../platform/context.ts";
import { certificationTasks, MOST_AGAIN, REPEATS } from "./rules.ts";

const NOT_LIVE =
  "The agent can't be called: it is deactivated or has no endpoint. The screening goes on once it is live again.";

/** The kind of the allowance that the price of a certification brings. */
const OWN = "certification";

/**
 * SQL: whether the run `r` takes of the allowance that came with its certification. One that failed by our fault, or was
 * cancelled before it was called, has given its share back.
 */
const takesOwn: SQL = sql`(r.paid_kind = ${OWN} and r.failure_code is distinct from 'service_error'
  and not (r.status = 'cancelled' and r.started_at is null))`;

/** SQL: what is left of the allowance that came with a certification: `included` less what runs of `session` take. */
export function ownLeft(included: SQL, session: SQL): SQL {
  return sql`greatest(0, ${included} - (select count(*) from ${runs} r
    where r.screening_session_id = ${session} and ${takesOwn}))::integer`;
}

/** SQL: the monthly allowance of the agent row `a`, and how many runs its plan has in a month. */
export const payer = {
  kind: sql`case when a.team_id is null then 'user' else 'team' end`,
  owner: sql`coalesce(a.team_id, a.user_id)::text`,
  limit: planLimit(sql`(select u.plan from ${users} u where u.id = ${accountOf(agentOwner)})`, "runs"),
};

/** SQL: the part `plan` of a new certification: every task of its suites, core first. */
export const newPlan: SQL = sql`plan as (
  select t.id as task_id, t.suite_version,
    row_number() over (order by k.is_secret, k.created_at, k.id, t.position, t.id)::integer as position
  from ${certificationTasks}
)`;

/** SQL: the part `plan` of a certification under way: that with which its session began. */
export const keptPlan: SQL = sql`plan as (
  select (p ->> 'task_id')::uuid as task_id, (p ->> 'position')::integer as position
  from target x join ${screening_sessions} s on s.id = x.session_id cross join jsonb_array_elements(s.task_plan) p
)`;

/** SQL: the part `session` of a statement that begins the session of its parts `target` and `plan`. */
export function newSession(now: Date): SQL {
  return sql`session as (
    insert into ${screening_sessions} (id, agent_id, user_id, team_id, trigger, task_plan, repeats, created_at)
    select x.session_id, x.agent_id, x.buyer_id, a.team_id, 'certification',
      (select jsonb_agg(to_jsonb(p) order by p.position) from plan p), ${REPEATS}, ${now.toISOString()}::timestamptz
    from target x join ${agents} a on a.id = x.agent_id
  )`;
}

/**
 * SQL: the parts of a statement that reserve, for its part `target` (at most one row: certification_id, session_id,
 * agent_id, buyer_id, runs_included), as many whole tasks of its part `plan` as are paid, in order: first by the
 * certification's own allowance, then by the monthly one of the agent's account. A run that failed by our fault is
 * reserved again; a task that is retired is left out. The part `reserved` holds the runs; the part `outcome`, one row for
 * the target, the `status` and `paused_reason` that the certification then has.
 */
export function reserving(ctx: Pick<Context, "now">): SQL {
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  return sql`terms as (
    select x.*, a.team_id, ${hasEndpoint} as is_live, ${payer.kind} as paid_kind,
      ${payer.owner} as paid_owner, ${payer.limit} as run_limit,
      ${ownLeft(sql`x.runs_included`, sql`x.session_id`)} as own
    from target x join ${agents} a on a.id = x.agent_id
  ), slots as (
    select p.position, n as repeat_index, t.id as task_id, t.suite_id,
      row_number() over (order by p.position, n) <= x.own as is_own
    from terms x cross join plan p join ${tasks} t on t.id = p.task_id and t.is_active
      cross join generate_series(1, ${REPEATS}::integer) n
      cross join lateral (
        select count(*) as made, count(*) filter (where r.failure_code is distinct from 'service_error') as standing
        from ${runs} r where r.screening_session_id = x.session_id and r.position = p.position and r.repeat_index = n) g
    where g.standing = 0 and g.made <= ${MOST_AGAIN}
  ), needed as (
    select position, sum(count(*) filter (where not is_own)) over (order by position)::integer as units
    from slots group by position
  ), paid as (
    ${takeAllowance(
      sql`select x.paid_kind, x.paid_owner, ${monthOf(now)},
          coalesce((select max(units) from needed where units <= x.run_limit), 0)
        from terms x where x.is_live and exists (select from needed where units > 0)`,
      { units: sql`coalesce((select max(n.units) from needed n, terms x where n.units <= x.run_limit - w.used), 0)` },
    )}
  ), reserved as (
    insert into ${runs} (id, agent_id, task_id, trigger, screening_session_id, position, repeat_index, repeat_total, user_id,
      scope, team_id, paid_kind, paid_owner, paid_period, suite_id, created_at)
    select ${runIdAt(at, sql`row_number() over (order by s.position, s.repeat_index)`)}, x.agent_id, s.task_id,
      'certification', x.session_id, s.position, s.repeat_index, ${REPEATS}::integer, x.buyer_id,
      case when x.team_id is null then 'personal' else 'team' end, x.team_id,
      case when s.is_own then ${OWN} else x.paid_kind end,
      case when s.is_own then x.certification_id::text else x.paid_owner end, ${monthOf(now)},
      s.suite_id, ${at}
    from terms x cross join slots s join needed n on n.position = s.position
      and n.units <= coalesce((select units from paid), 0)
    where x.is_live
    order by s.position, s.repeat_index
    returning *
  ), dispatched as (
    insert into ${outbox} (consumer, id, body, flow_key)
    select 'dispatch', id, jsonb_build_object('run_id', id), agent_id::text from reserved
  ), outcome as (
    select x.*, case when w.is_waiting then 'paused_quota' else 'screening' end as status,
      case when w.is_waiting then case when x.is_live then ${quotaReason(now)} else ${NOT_LIVE} end end as paused_reason
    from terms x cross join lateral (
      select exists (select from needed where not x.is_live or units > coalesce((select units from paid), 0))
        as is_waiting) w
  )`;
}

function quotaReason(now: Date): string {
  const renewal = monthEnd(now).toISOString().slice(0, 10);
  return `quota: The runs that came with the price are taken, and the monthly allowance, which pays for the tasks added since, is used up. The screening goes on when it renews on ${renewal}, or sooner with a larger plan.`;
}

/** SQL: the runs of the part `reserved` as JSON, for `dispatchMessage`. */
export const reservedJson: SQL = sql`(select coalesce(jsonb_agg(jsonb_build_object('id', id, 'agent_id', agent_id)
  order by position, repeat_index), '[]') from reserved)`;
