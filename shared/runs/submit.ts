import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { inactive, retired } from "../agents/connection.ts";
import { agentOwner, visibleAgent } from "../agents/conditions.ts";
import { takeAllowance } from "../allowances/take.ts";
import { tellOfAllowance } from "../billing/used-up.ts";
import { epochAt } from "../epochs/calendar.ts";
import { change, telling, type Verdict, verdict } from "../db/change.ts";
import { agents, allowances, suites, teams } from "../db/schema/index.ts";
import { actorId, workspaceOf } from "../identity/principal.ts";
import { hasLarger, monthEnd, monthOf } from "../plans/plans.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { bodyProblem, notFound, Problem, quotaExceeded } from "../platform/problem.ts";
import { beyondPlan, limitOf } from "../teams/limits.ts";
import { may } from "../teams/rights.ts";
import { oweExhausted } from "./announcements.ts";
import { LIMITS } from "./limits.ts";
import { insertSession, reserveRuns } from "./reserve.ts";
import { type Submission, type Submitter, wantedTasks } from "./submission.ts";
import { runJson } from "./view.ts";

/** What each kind of submitter is called as the trigger of what it starts; a stranger's run is a trial. */
const TRIGGERS = { anonymous: "trial", session: "manual", key: "api", schedule: "scheduled" } as const;

/** A run as it was reserved: a RunRead, whose fields are read once, where the answer is made. */
const Reserved = z.looseObject({ id: z.string() });

/**
 * Reserves a whole submission or nothing: takes the allowance, resolves the tasks, and inserts session, runs and outbox
 * rows in one statement; then, after the answer, hands the runs to the queue. Returns the runs in task order, then by
 * repeat. A single run has no session.
 *
 * A stranger may run a public agent alone where its owner allows trials: signed in on their own allowance, else on the
 * daily allowance of the address and of all; a workspace's key runs the workspace's agents alone. Throws 404, `forbidden`, `trial_not_allowed`,
 * `conflicting_parameters` (a trial can't be private), `agent_inactive`, `provider_custody_retired`, `suite_unavailable`, `task_unavailable`, `quota_exceeded`.
 * @example
 * await submit(ctx, principal, { agentId, tasks: { kind: "one", taskId }, repeats: 1, isPrivate: false }) // [{ id, … }]
 */
export async function submit(
  ctx: Context,
  principal: Submitter,
  submission: Submission,
): Promise<z.output<typeof Reserved>[]> {
  const admission = admissionOf(principal, submission);
  const { runs } = await change(ctx, {
    // A trial takes two allowances or none: one trial at a time, so that each sees what both have left.
    ...(principal.kind === "anonymous" ? { lock: sql`select pg_advisory_xact_lock(hashtext('trials'))` } : {}),
    ...reservation(ctx, principal, submission, admission),
    owes: ["dispatches", "warned", "exhausted"],
    verdict: admission,
    done: z.object({ runs: z.array(Reserved) }),
    refusals: {
      not_found: () => notFound("agent"),
      forbidden: () => new Problem("forbidden", "Only the owner, or a runner of its workspace, may screen this agent."),
      no_trial: () => new Problem("trial_not_allowed", "Only the owner may run this agent: it does not allow trials."),
      private_trial: () =>
        bodyProblem(
          "conflicting_parameters",
          "/private",
          "Only runs of the agent's owner, or of its workspace, can be private; send a trial without private.",
        ),
      retired,
      inactive,
      no_suite: () => notFound("suite"),
      no_task: () => notFound("task"),
      task_retired: () =>
        new Problem("task_unavailable", "At least one of these tasks is retired; nothing was reserved."),
      empty_suite: () =>
        new Problem("suite_unavailable", "There is no active task to run in this suite; nothing was reserved."),
      too_many: telling(Exceeded, ({ units = 0 }) => tooMany(units)),
      quota: telling(Exceeded, (exceeded) => notEnough(ctx, principal, exceeded)),
    },
  });
  return runs;
}

/** Whether a submission is admitted, by the rows `terms`; `quota` shows only when the allowance is taken. */
function admissionOf(principal: Submitter, { tasks, repeats, isPrivate }: Submission) {
  const isWorkspace = principal.kind !== "anonymous" && workspaceOf(principal) !== null;
  const single = tasks.kind === "one";
  const suiteId = tasks.kind === "suite" ? tasks.suiteId : null;
  return verdict(
    {
      no_trial: sql`${single} and t.stranger and not t.allow_trial`,
      forbidden: sql`not t.owned and not (${single && !isWorkspace} and t.stranger)`,
      private_trial: sql`${isPrivate} and t.stranger`,
      retired: sql`t.connection_mode in ('customer_llm', 'provider_assistant')`,
      inactive: sql`not t.is_active`,
      no_suite: sql`${suiteId}::uuid is not null and not exists (
        select from ${suites} s where s.id = ${suiteId}::uuid and not s.is_secret)`,
      no_task: sql`t.missing`,
      task_retired: sql`t.asked > t.resolved`,
      empty_suite: sql`t.resolved = 0`,
      too_many: sql`t.resolved * ${repeats}::integer > ${LIMITS.runsPerBatch}`,
    },
    "quota",
  );
}

function reservation(
  ctx: Context,
  principal: Submitter,
  submission: Submission,
  admission: Verdict<string>,
): { parts: SQL; result: SQL } {
  const viewer = principal.kind === "anonymous" ? null : principal.userId;
  const actor = principal.kind === "anonymous" ? null : actorId(principal);
  const keyId = principal.kind === "key" ? principal.keyId : null;
  const now = ctx.now();
  const { repeats, isPrivate } = submission;
  const single = submission.tasks.kind === "one";
  const sessionId = single ? null : newId(now);
  const trigger = TRIGGERS[principal.kind];
  const address = ctx.addressHash ?? "unknown";
  const suiteId = submission.tasks.kind === "suite" ? submission.tasks.suiteId : null;
  const epoch = !single && repeats > 1 && !isPrivate ? epochAt(now, ctx.env.EPOCH_SECONDS).name : null;
  const payer = {
    user_id: sql`case when a.owned then a.user_id else ${viewer}::uuid end`,
    team_id: sql`case when a.owned then a.team_id end`,
  };
  const parts = sql`with agent as (
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
        else ${limitOf(now, payer, "runs")}
      end as run_limit,
      (select count(*)::integer from wanted where ok) as resolved,
      (select count(*)::integer from wanted) as asked,
      exists (select from wanted where missing) as missing
    from agent a
  ), target as (
    select t.*, t.resolved * ${repeats}::integer as units, ${admission.sql} as outcome from terms t
  ), trials as (
    select coalesce(max(w.used), 0) as used from ${allowances} w, target t
    where w.kind = 'trial_global' and w.period = t.paid_period
  ), tried as (${takeAllowance(
    sql`select paid_kind, paid_owner, paid_period, units from target where outcome = 'done' and units <= run_limit
      and (paid_kind <> 'trial_address' or (select used from trials) + units <= ${LIMITS.trialsPerDay})`,
    // Nothing, where it does not suffice, so that the refusal tells what those left whom this waited for.
    {
      units: sql`case when w.used + excluded.used <= (select run_limit from target) then excluded.used else 0 end`,
    },
  )}), paid as (
    select * from tried where units > 0
  ), paid_by_all as (${takeAllowance(
    sql`select 'trial_global', 'all', paid_period, units from target
      where paid_kind = 'trial_address' and exists (select from paid)`,
  )}), ${tellOfAllowance(
    "warned",
    sql`select case when t.owned then t.payer else ${viewer}::uuid end as user_id, t.paid_kind as kind,
      t.paid_owner as owner, t.paid_period as period, p.used, p.units, t.run_limit, t.id as agent_id, t.owned
    from paid p cross join target t where t.paid_kind in ('user', 'team')`,
  )}, exhausted as (${oweExhausted("warned", now)}), session as (${insertSession(
    sql`select ${sessionId}::uuid as id, t.id as agent_id, ${actor}::uuid as user_id, t.team_id, ${suiteId}::uuid as suite_id,
      ${trigger} as trigger, (select jsonb_agg(jsonb_build_object('task_id', id, 'suite_version', suite_version,
        'position', position) order by position) from wanted) as task_plan,
      ${repeats}::integer as repeats, ${isPrivate}::boolean as is_private,
      case when t.connection_mode <> 'mock' then ${epoch} end as epoch
    from target t where ${!single} and exists (select from paid)`,
    now,
  )}), ${reserveRuns(
    sql`select t.id as agent_id, w.id as task_id, case when t.stranger then 'trial' else ${trigger} end as trigger,
      t.connection_mode = 'mock' as simulated, ${isPrivate}::boolean as is_private,
      ${sessionId}::uuid as screening_session_id, ${single ? sql`null::integer` : sql`w.position`} as position,
      ${single ? sql`null::integer` : sql`n`} as repeat_index, ${single ? null : repeats}::integer as repeat_total,
      ${actor}::uuid as user_id, ${keyId}::uuid as api_key_id, case when t.owned then t.team_id end as team_id, t.paid_kind, t.paid_owner, t.paid_period,
      w.suite_id, case when ${epoch}::text is null or t.connection_mode = 'mock' or not w.is_minted then false end as canary
    from target t cross join wanted w cross join generate_series(1, ${repeats}::integer) n
    where exists (select from paid)`,
    now,
  )}`;
  const result = sql`select jsonb_build_object(
    'outcome', case when t.outcome = 'done' and not exists (select from paid) then 'quota' else t.outcome end,
    'units', t.units, 'resets_at', ${resetsAt(now, viewer === null).toISOString()}::text, 'limit', case when x.all_are_used then ${LIMITS.trialsPerDay} else t.run_limit end,
    'used', case when x.all_are_used then x.used else coalesce((select used from tried), (select w.used from ${allowances} w
      where w.kind = t.paid_kind and w.owner = t.paid_owner and w.period = t.paid_period), 0) end,
    'runs', coalesce((select json_agg(${runJson(sql`true`)} order by r.position, r.repeat_index) from reserved r), '[]')
  ) as result from target t, lateral (
    select used, t.paid_kind = 'trial_address' and used + t.units > ${LIMITS.trialsPerDay} as all_are_used from trials) x`;
  return { parts, result };
}

/**
 * An allowance that does not suffice for the `units` asked for, and when it starts anew: a refusal that comes again under its
 * key tells of the day or the month that it was refused in. One that an earlier version kept has neither.
 */
const Exceeded = z.object({
  units: z.int().optional(),
  resets_at: z.string().optional(),
  limit: z.int(),
  used: z.int(),
});

/** When the allowance of the day, or else of the month, starts anew. */
function resetsAt(now: Date, daily: boolean): Date {
  return daily ? new Date(Math.floor(now.getTime() / DAY_MS + 1) * DAY_MS) : monthEnd(now);
}

function tooMany(units: number): Problem {
  const most = `This takes ${units} runs, and a batch has at most ${LIMITS.runsPerBatch}; nothing was reserved.`;
  return new Problem("suite_unavailable", `${most} Take fewer repeats, or name some of the suite's tasks in task_ids.`);
}

function notEnough(ctx: Context, { kind }: Submitter, exceeded: z.output<typeof Exceeded>): Problem {
  const daily = kind === "anonymous";
  const { units, limit, used, resets_at = resetsAt(ctx.now(), daily).toISOString() } = exceeded;
  if (limit === 0) return beyondPlan(used);
  const asked = units === undefined ? "" : `, and this takes ${units}`;
  const larger_plan = !daily && hasLarger(limit, "runs");
  const advice = daily ? "Sign in to run your own agents." : adviceOn(units ?? 1, limit, used, larger_plan);
  const detail = `The allowance of ${limit} runs does not suffice: ${used} are used${asked}. ${advice}`;
  return quotaExceeded(detail, { limit, used, resets_at, larger_plan });
}

/** What helps: no new month does where more is asked for than a whole one has, and less does not where nothing is left. */
function adviceOn(units: number, limit: number, used: number, largerPlan: boolean): string {
  const upgrade = largerPlan ? " or upgrade the plan." : ".";
  if (units > limit)
    return `That is more than a whole month has: take fewer tasks or repeats${largerPlan ? "," : ""}${upgrade}`;
  if (used >= limit) return `Wait for the new month${upgrade}`;
  return `Take fewer tasks or repeats${largerPlan ? "," : " or"} wait for the new month${upgrade}`;
}

const DAY_MS = 86_400_000;
