import { type SQL, sql } from "drizzle-orm";
import { agentOwner, visibleAgent } from "../agents/view.ts";
import { inactive, retired } from "../agents/connection.ts";
import { takeAllowance } from "../billing/allowances.ts";
import { monthEnd, monthOf, planLimit } from "../billing/plans.ts";
import {
  agents,
  allowances,
  outbox,
  runs,
  screening_sessions,
  suites,
  tasks,
  teams,
  users,
} from "../db/schema/index.ts";
import { runIdAt } from "../db/run-id.ts";
import { writeJson } from "../db/statement.ts";
import type { Principal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { flush } from "../db/outbox.ts";
import { may } from "../teams/rights.ts";
import { dispatchMessage } from "./messages.ts";
import { LIMITS } from "./limits.ts";
import { type RunRow, runJson } from "./view.ts";

/** Who submits: a caller, or a schedule in the name of an account. */
export type Submitter = Principal | { kind: "schedule"; userId: string };

/** What each kind of submitter is called as the trigger of what it starts; a stranger's run is a trial. */
const TRIGGERS = { anonymous: "trial", session: "manual", key: "api", schedule: "scheduled" } as const;

/** What is to be run, and how often. */
export interface Submission {
  agentId: string;
  tasks:
    | { kind: "one"; taskId: string }
    | { kind: "exact"; taskIds: string[] }
    | { kind: "suite"; suiteId: string }
    | { kind: "catalogue" };
  repeats: number;
  isPrivate: boolean;
}

interface Outcome {
  outcome:
    | "reserved"
    | "no_agent"
    | "forbidden"
    | "no_trial"
    | "retired"
    | "inactive"
    | "no_suite"
    | "empty_suite"
    | "no_task"
    | "task_retired"
    | "quota";
  limit: number;
  used: number;
  runs: RunRow[];
}

/**
 * Reserves a whole submission or nothing: takes the allowance, resolves the tasks, and inserts session, runs and outbox
 * rows in one statement; then, after the answer, hands the runs to the queue. Returns the runs in task order, then by
 * repeat. A single run has no session.
 *
 * A stranger may run a public agent alone where its owner allows trials: signed in on the own allowance, else on the
 * daily allowance of the address and of all. Throws 404, `forbidden`, `trial_not_allowed`, `agent_inactive`,
 * `provider_custody_retired`, `suite_unavailable`, `task_unavailable`, `quota_exceeded`.
 */
export async function submit(ctx: Context, principal: Submitter, submission: Submission): Promise<RunRow[]> {
  const { ctes, result } = reservation(ctx, principal, submission);
  // A trial takes two allowances or none: one trial at a time, so that each sees what both have left.
  const lock = principal.kind === "anonymous" ? sql`select pg_advisory_xact_lock(hashtext('trials'))` : undefined;
  const outcome = await writeJson<Outcome>(ctx, ctes, result, lock);
  if (outcome.outcome !== "reserved") throw refusal(ctx, outcome, principal);
  ctx.defer(() => flush(ctx, outcome.runs.map(dispatchMessage)));
  return outcome.runs;
}

function reservation(ctx: Context, principal: Submitter, submission: Submission): { ctes: SQL; result: SQL } {
  const viewer = principal.kind === "anonymous" ? null : principal.userId;
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  const single = submission.tasks.kind === "one";
  const sessionId = single ? null : newId(now);
  const trigger = TRIGGERS[principal.kind];
  const address = ctx.addressHash ?? "unknown";
  const suiteId = submission.tasks.kind === "suite" ? submission.tasks.suiteId : null;
  const ctes = sql`with agent as (
    select a.*, ${may("run", viewer, agentOwner)} as owned, ${may("see", viewer, agentOwner)} as member,
      coalesce(t.owner_id, a.user_id) as payer
    from ${agents} a left join ${teams} t on t.id = a.team_id
    where a.id = ${submission.agentId}::uuid and ${visibleAgent(viewer)}
  ), wanted as (
    ${wantedTasks(submission)}
  ), terms as (
    select a.*, not a.owned and not a.member as stranger,
      case when a.owned then coalesce(a.team_id, a.user_id)::text else coalesce(${viewer}::text, ${address}) end as paid_owner,
      case when a.owned and a.team_id is not null then 'team' when ${viewer}::uuid is not null then 'user'
        else 'trial_address' end as paid_kind,
      case when ${viewer}::uuid is null then ${now.toISOString().slice(0, 10)} else ${monthOf(now)} end as paid_period,
      case when ${viewer}::uuid is null then ${LIMITS.trialsPerAddress}
        else ${planLimit(sql`(select u.plan from ${users} u where u.id = case when a.owned then a.payer else ${viewer}::uuid end)`, "runs")}
      end as run_limit,
      (select count(*)::integer from wanted where ok) as resolved,
      (select count(*)::integer from wanted) as asked,
      exists (select from wanted where missing) as missing
    from agent a
  ), judged as (
    select t.*, resolved * ${submission.repeats}::integer as units, case
      when stranger and (not allow_trial or not ${single}) then case when ${single} then 'no_trial' else 'forbidden' end
      when not owned and not stranger then 'forbidden'
      when connection_mode in ('customer_llm', 'provider_assistant') then 'retired'
      when not is_active then 'inactive'
      when ${suiteId}::uuid is not null and not exists (
        select from ${suites} s where s.id = ${suiteId}::uuid and not s.is_secret) then 'no_suite'
      when missing then 'no_task'
      when asked > resolved then 'task_retired'
      when resolved = 0 then 'empty_suite'
      else 'reserved' end as outcome
    from terms t
  ), trials as (
    select coalesce(max(w.used), 0) as used from ${allowances} w, judged j
    where w.kind = 'trial_global' and w.period = j.paid_period
  ), paid as (
    ${takeAllowance(
      sql`select paid_kind, paid_owner, paid_period, units from judged
        where outcome = 'reserved' and units <= run_limit
          and (paid_kind <> 'trial_address' or (select used from trials) + units <= ${LIMITS.trialsPerDay})`,
      { condition: sql`w.used + excluded.used <= (select run_limit from judged)` },
    )}
  ), paid_by_all as (
    ${takeAllowance(sql`select 'trial_global', 'all', paid_period, units from judged
      where paid_kind = 'trial_address' and exists (select from paid)`)}
  ), session as (
    insert into ${screening_sessions} (id, agent_id, user_id, team_id, suite_id, trigger, task_plan, repeats, is_private, created_at)
    select ${sessionId}::uuid, j.id, ${viewer}::uuid, j.team_id, ${suiteId}::uuid, ${trigger},
      (select jsonb_agg(jsonb_build_object('task_id', id, 'suite_version', suite_version, 'position', position) order by position)
       from wanted), ${submission.repeats}, ${submission.isPrivate}, ${at}
    from judged j where ${!single} and exists (select from paid)
  ), reserved as (
    insert into ${runs} (id, agent_id, task_id, trigger, simulated, is_private, screening_session_id, position, repeat_index,
      repeat_total, user_id, scope, team_id, paid_kind, paid_owner, paid_period, suite_id, created_at)
    select ${runIdAt(at, sql`row_number() over (order by w.position, n)`)}, j.id, w.id, case when j.stranger then 'trial' else ${trigger} end, j.connection_mode = 'mock',
      ${submission.isPrivate} and not j.stranger, ${sessionId}::uuid, ${single ? sql`null` : sql`w.position`},
      ${single ? sql`null` : sql`n`}, ${single ? sql`null::integer` : sql`${submission.repeats}::integer`}, ${viewer}::uuid,
      case when j.team_id is not null and j.owned then 'team' else 'personal' end, case when j.owned then j.team_id end,
      j.paid_kind, j.paid_owner, j.paid_period, w.suite_id, ${at}
    from judged j cross join wanted w cross join generate_series(1, ${submission.repeats}::integer) n
    where exists (select from paid) order by w.position, n
    returning *
  ), owed as (
    insert into ${outbox} (consumer, id, body, flow_key)
    select 'dispatch', id, jsonb_build_object('run_id', id), agent_id::text from reserved
  )`;
  const result = sql`select jsonb_build_object(
    'outcome', case when j.outcome = 'reserved' and not exists (select from paid) then 'quota' else j.outcome end,
    'limit', case when x.all_are_used then ${LIMITS.trialsPerDay} else j.run_limit end,
    'used', case when x.all_are_used then x.used else coalesce((select w.used from ${allowances} w
      where w.kind = j.paid_kind and w.owner = j.paid_owner and w.period = j.paid_period), 0) end,
    'runs', coalesce((select jsonb_agg(${runJson(sql`true`)} order by r.position, r.repeat_index) from reserved r), '[]')
  ) as result from judged j, lateral (
    select used, j.paid_kind = 'trial_address' and used + j.units > ${LIMITS.trialsPerDay} as all_are_used from trials) x
  union all select jsonb_build_object('outcome', 'no_agent') where not exists (select from judged)`;
  return { ctes, result };
}

/** SQL: the tasks asked for, in order: `ok` ones can be run, `missing` ones don't exist for the caller. */
export function wantedTasks({ tasks: wanted }: Pick<Submission, "tasks">): SQL {
  const columns = sql`t.id, t.suite_id, t.suite_version`;
  switch (wanted.kind) {
    case "one":
    case "exact": {
      const ids = wanted.kind === "one" ? [wanted.taskId] : wanted.taskIds;
      return sql`select ${columns}, w.position::integer as position, coalesce(t.is_active, false) as ok, t.id is null as missing
        from jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb) with ordinality as w(id, position)
        left join ${tasks} t on t.id = w.id::uuid and not t.is_secret`;
    }
    case "suite":
      return sql`select ${columns}, row_number() over (order by t.position, t.id)::integer as position, true as ok, false as missing
        from ${tasks} t where t.suite_id = ${wanted.suiteId}::uuid and t.is_active and not t.is_secret`;
    case "catalogue":
      return sql`select ${columns}, row_number() over (order by s.created_at nulls last, s.id, t.position, t.id)::integer as position,
          true as ok, false as missing
        from ${tasks} t left join ${suites} s on s.id = t.suite_id where t.is_active and not t.is_secret
        order by position limit ${LIMITS.tasksPerBatch}`;
  }
}

function refusal(ctx: Context, { outcome, limit, used }: Outcome, principal: Submitter): Problem {
  switch (outcome) {
    case "no_agent":
      return notFound("agent");
    case "forbidden":
      return new Problem("forbidden", "Only the owner, or a runner of its workspace, may screen this agent.");
    case "no_trial":
      return new Problem("trial_not_allowed", "Only the owner may run this agent: it does not allow trials.");
    case "retired":
      return retired();
    case "inactive":
      return inactive();
    case "no_suite":
      return notFound("suite");
    case "no_task":
      return notFound("task");
    case "empty_suite":
      return new Problem("suite_unavailable", "There is no active task to run in this suite; nothing was reserved.");
    case "task_retired":
      return new Problem("task_unavailable", "At least one of these tasks is retired; nothing was reserved.");
    default: {
      const daily = principal.kind === "anonymous";
      const resets = daily
        ? new Date(Math.floor(ctx.now().getTime() / 86_400_000 + 1) * 86_400_000)
        : monthEnd(ctx.now());
      const advice = daily ? "Sign in to run your own agents." : "Wait for the new month or upgrade the plan.";
      return new Problem(
        "quota_exceeded",
        `The allowance of ${limit} runs does not suffice: ${used} are used. ${advice}`,
        {
          members: { limit, used, resets_at: resets.toISOString() },
        },
      );
    }
  }
}
