import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { accountOf } from "../agents/account.ts";
import { agentOwner } from "../agents/conditions.ts";
import { read, write } from "../db/change.ts";
import { describeError } from "../db/client.ts";
import { agents, notices, screening_schedules, users } from "../db/schema/index.ts";
import { oweNotice, tellOnce, wants } from "../mail/owe-notice.ts";
import { hasLarger, monthOf } from "../plans/plans.ts";
import type { Context } from "../platform/context.ts";
import { Problem, quotaExceeded } from "../platform/problem.ts";
import { submit } from "../runs/submit.ts";
import type { ScheduleMessage } from "./due.ts";
import { may } from "../teams/rights.ts";
import { activeSchedules, scheduleLimit } from "./limit.ts";
import { tasksOf } from "./refusals.ts";

type Message = z.output<typeof ScheduleMessage>;

const DueSchedule = z.object({
  user_id: z.uuid(),
  agent_id: z.uuid(),
  suite_id: z.uuid().nullable(),
  task_ids: z.array(z.uuid()).nullable(),
  repeats: z.int(),
  /** Whether it has a next time: none could be computed if its time zone is not known any more. */
  is_timed: z.boolean(),
  /** Its next time and how that was computed: the same for all times that have come by now. */
  turn: z.string(),
  plan_limit: z.int(),
  /** Whether the plan does not include its workspace. */
  is_beyond: z.boolean(),
  /** Active schedules of the same owner that were created before. */
  older: z.int(),
  /** Whether an account that it depends on awaits its deletion. */
  is_leaving: z.boolean(),
});
type DueSchedule = z.output<typeof DueSchedule>;

/** What a refusal says of the limit that was met. */
const Exceeded = z.object({ limit: z.int(), resets_at: z.string().nullable() });

const AGAIN = "Then turn the schedule on again.";

/**
 * Starts the screening that was due at an instant, once however often the message comes, and once where it meets that of
 * another time, in the name of the schedule's account and from its usual allowance. Where the tasks or the allowance do not
 * permit it, or the plan has no room for it or does not include its workspace, the schedule notes why, mails it once a
 * month, and goes on; where the agent, the right or the account is gone, it is turned off and says why. Does nothing for a
 * schedule that is off or deleted, that has started a screening since, or that is due again, since then another message comes.
 */
export async function startScheduled(ctx: Context, { schedule_id: id, due_at: due }: Message): Promise<void> {
  const schedule = await load(ctx, id, due);
  if (schedule === null) return;
  const obstacle = obstacleOf(schedule);
  if (obstacle !== null) return turnOff(ctx, id, obstacle);
  // What the plan does not include of a workspace, the submission says itself.
  const { older, plan_limit: limit } = schedule;
  if (older >= limit && !schedule.is_beyond) return wait(ctx, id, noRoom(limit, older));
  // Not by the time that was due: where the queue was down, the messages of two times come at once.
  const { turn } = schedule;
  const once = { caller: `schedule:${id}`, key: turn, fingerprint: turn, replayed: false };
  ctx.idempotency = once;
  try {
    const [run] = await submit(
      ctx,
      { kind: "schedule", userId: schedule.user_id },
      {
        agentId: schedule.agent_id,
        tasks: tasksOf(schedule.suite_id, schedule.task_ids),
        repeats: schedule.repeats,
        isPrivate: false,
      },
    );
    // What follows is not part of what is kept under the key.
    ctx.idempotency = null;
    await update(
      ctx,
      id,
      sql`last_error = null, last_run_at = ${ctx.now().toISOString()}::timestamptz,
        last_screening_session_id = ${run?.screening_session_id ?? null}::uuid`,
    );
  } catch (error) {
    ctx.idempotency = null;
    if (!(error instanceof Problem)) throw error;
    // A refusal that is replayed was noted the first time, and its cause may have been removed since.
    if (!once.replayed) await refused(ctx, id, error);
  }
}

/**
 * After the last attempt to start a screening: notes on its schedule that the service failed to. One that was started, but
 * could not be noted, runs all the same, and only one more attempt, which finds it by its key, can tell.
 */
export async function startFailed(ctx: Context, message: Message): Promise<void> {
  try {
    await startScheduled(ctx, message);
  } catch (error) {
    ctx.log.error("a screening that was due could not be started", { detail: describeError(error), ...message });
    if ((await load(ctx, message.schedule_id, message.due_at)) === null) return;
    await note(
      ctx,
      message.schedule_id,
      "The service failed to start the screening of the last time. The schedule goes on.",
    );
  }
}

async function load(ctx: Context, id: string, due: string): Promise<DueSchedule | null> {
  return read(
    ctx,
    DueSchedule,
    sql`select jsonb_build_object('user_id', s.user_id, 'agent_id', s.agent_id, 'suite_id', s.suite_id,
      'task_ids', s.task_ids, 'repeats', s.repeats, 'is_timed', s.next_run_at is not null,
      'turn', concat_ws(' ', s.next_run_at, s.cron, s.timezone), 'plan_limit', l.plan_limit, 'is_beyond', l.is_beyond,
      'older', ${activeSchedules(sql`o.id < s.id`)}, 'is_leaving', exists (select from ${users} u
        where u.id in (s.user_id, ${accountOf(agentOwner)}) and u.deletion_scheduled_for is not null)) as result
    from ${screening_schedules} s join ${agents} a on a.id = s.agent_id
      cross join lateral (select ${scheduleLimit(ctx.now())}) l
    where s.id = ${id}::uuid and s.is_active and (s.last_run_at is null or s.last_run_at < ${due}::timestamptz)
      and not coalesce(s.next_run_at > ${due}::timestamptz and s.next_run_at <= ${ctx.now().toISOString()}::timestamptz, false)`,
  );
}

/** Why the schedule may start nothing any more, apart from what the submission checks itself; null when it may. */
function obstacleOf({ is_timed: timed, is_leaving: leaving }: DueSchedule): string | null {
  if (leaving) return `Its account awaits deletion. Take the deletion back first. ${AGAIN}`;
  return timed ? null : "Its time zone is not known any more. Set another, and turn the schedule on again.";
}

/** The 402 for a schedule beyond those that the plan allows, which are the oldest: it waits until there is room for it. */
function noRoom(limit: number, used: number): Problem {
  const message =
    limit === 0
      ? "The plan of the agent's owner includes no schedules. This one goes on with a plan that does."
      : `The plan of the agent's owner allows ${limit} active schedules, and as many are older than this one. It goes on ` +
        "once one of them is turned off, or with a larger plan.";
  return quotaExceeded(message, { limit, used, larger_plan: hasLarger(limit, "schedules") });
}

async function refused(ctx: Context, id: string, problem: Problem): Promise<void> {
  switch (problem.code) {
    case "quota_exceeded":
    case "suite_unavailable":
    case "task_unavailable":
      return wait(ctx, id, problem);
    case "agent_inactive":
    case "provider_custody_retired":
      return turnOff(ctx, id, `${problem.message} ${AGAIN}`);
    // Public tasks and suites stay public: what is not found is an agent that the account does not see any more.
    case "forbidden":
    case "not_found":
      return turnOff(
        ctx,
        id,
        "The account in whose name it screened may not screen this agent any more. Whoever turns it on again takes it over.",
      );
    default:
      throw problem;
  }
}

async function note(ctx: Context, id: string, error: string): Promise<void> {
  await update(ctx, id, sql`last_error = ${error}`);
}

/**
 * Notes why a schedule that goes on has started nothing, and mails it once a month for each kind of reason: nobody may look at
 * the schedules for weeks. What the plan has no room for is one mail for all schedules of an owner. Whoever was mailed that
 * all of this allowance is used knows that schedules start none.
 */
async function wait(ctx: Context, id: string, { code, message, extras }: Problem): Promise<void> {
  const month = monthOf(ctx.now());
  const exceeded = Exceeded.safeParse(extras.members).data;
  const limit = exceeded?.limit ?? null;
  // The month's runs come back by themselves, what a plan allows does not.
  const isOfPlan = exceeded?.resets_at === null;
  const allowance = sql`concat_ws(':', case when s.team_id is null then 'user' else 'team' end,
    coalesce(s.team_id, s.owner_id), ${month}::text, ${limit}::integer)`;
  await write(ctx, {
    parts: sql`with updated as (
      update ${screening_schedules} set last_error = ${message} where id = ${id}::uuid returning id, user_id, agent_id
    ), ${tellOnce(
      "mailed",
      "turned_off",
      sql`select s.user_id, 'schedule_waiting' as notice, concat_ws(':', case when ${isOfPlan}
          then coalesce(s.team_id, s.owner_id) else s.id end, ${code}::text, ${month}::text) as about,
        s.name as title, ${message}::text as reason, null::uuid as page_id
      from (select u.id, ${reader(sql`u`)} as user_id, a.name, a.team_id, a.user_id as owner_id
        from updated u join ${agents} a on a.id = u.agent_id) s
      where ${code !== "quota_exceeded"} or not exists (select from ${notices} n
        join ${users} u on u.id = n.user_id
        where n.user_id = s.user_id and ${wants("allowance")} and n.notice = 'allowance_exhausted' and n.about = ${allowance})`,
    )}`,
    owes: ["mailed"],
    select: sql`select to_jsonb(id) as result from updated`,
    result: z.uuid(),
  });
}

/** SQL: whom a mail about the schedule row of this name goes to: its account, or the agent's where that may not see the agent. */
function reader(schedule: SQL): SQL {
  return sql`case when ${may("see", sql`${schedule}.user_id`, agentOwner)} then ${schedule}.user_id
    else ${accountOf(agentOwner)} end`;
}

/** Turns a schedule off and mails why, once however often this is called. */
async function turnOff(ctx: Context, id: string, reason: string): Promise<void> {
  await write(ctx, {
    parts: sql`with updated as (
      update ${screening_schedules} set is_active = false, next_run_at = null, last_error = ${reason}, updated_at = now()
      where id = ${id}::uuid and is_active returning id, user_id, agent_id
    ), mailed as (${oweNotice(
      "turned_off",
      sql`select ${reader(sql`s`)} as user_id, 'schedule_disabled' as notice, a.name as title, ${reason}::text as reason,
        null::uuid as page_id from updated s join ${agents} a on a.id = s.agent_id`,
    )})`,
    owes: ["mailed"],
    select: sql`select to_jsonb(id) as result from updated`,
    result: z.uuid(),
  });
}

/** Updates a schedule, unless it was deleted meanwhile. */
async function update(ctx: Context, id: string, assignments: SQL): Promise<void> {
  await write(ctx, {
    parts: sql`with updated as (
      update ${screening_schedules} set ${assignments} where id = ${id}::uuid returning id
    )`,
    select: sql`select to_jsonb(id) as result from updated`,
    result: z.uuid(),
  });
}
