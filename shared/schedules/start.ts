import { sql } from "drizzle-orm";
import type * as z from "zod";
import { accountOf } from "../agents/account.ts";
import { agentOwner } from "../agents/view.ts";
import { agents, screening_schedules, users } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { Problem } from "../platform/problem.ts";
import { submit } from "../runs/submit.ts";
import type { ScheduleMessage } from "./due.ts";
import { activeSchedules, scheduleLimit } from "./limit.ts";
import { tasksOf } from "./view.ts";

type Message = z.output<typeof ScheduleMessage>;

interface Schedule {
  user_id: string;
  agent_id: string;
  suite_id: string | null;
  task_ids: string[] | null;
  repeats: number;
  /** Whether a next time could be reckoned when this one was taken up. */
  is_timed: boolean;
  plan_limit: number;
  /** Active schedules of the same owner that were made before. */
  elder: number;
  /** Whether an account that it depends on awaits its deletion. */
  leaving: boolean;
}

const AGAIN = "Then turn the schedule on again.";

/**
 * Starts the screening that was due at an instant, once however often it is told to, in the name of the schedule's
 * account and from the usual allowance. What tasks or allowance forbid is noted, and the schedule goes on; where plan,
 * agent, right or account are gone, it is turned off and says why. Does nothing for one that is off, deleted, or has
 * started a screening since.
 */
export async function startScheduled(ctx: Context, { schedule_id: id, due_at: due }: Message): Promise<void> {
  const schedule = await load(ctx, id, due);
  if (schedule === null) return;
  const hindrance = hindranceOf(schedule);
  if (hindrance !== null) return turnOff(ctx, id, hindrance);
  const once = { caller: `schedule:${id}`, key: due, fingerprint: due, replayed: false };
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
    await ctx.db.execute(sql`update ${screening_schedules} set last_error = null,
      last_run_at = ${ctx.now().toISOString()}::timestamptz,
      last_screening_session_id = ${run?.screening_session_id ?? null}::uuid where id = ${id}::uuid`);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // What was refused the first time has been noted, and may have been put right since.
    if (!once.replayed) await refused(ctx, id, error);
  }
}

/** Notes on a schedule that the screening of its last time could not be started for a fault of ours. */
export async function startFailed(ctx: Context, { schedule_id: id, due_at: due }: Message): Promise<void> {
  if ((await load(ctx, id, due)) === null) return;
  await note(ctx, id, "The service failed to start the screening of the last time. The schedule goes on.");
}

async function load(ctx: Context, id: string, due: string): Promise<Schedule | null> {
  return readJson<Schedule>(
    ctx,
    sql`select jsonb_build_object('user_id', s.user_id, 'agent_id', s.agent_id, 'suite_id', s.suite_id,
      'task_ids', s.task_ids, 'repeats', s.repeats, 'is_timed', s.next_run_at is not null, 'plan_limit', ${scheduleLimit},
      'elder', ${activeSchedules(sql`o.id < s.id`)}, 'leaving', exists (select from ${users} u
        where u.id in (s.user_id, ${accountOf(agentOwner)}) and u.deletion_scheduled_for is not null)) as result
    from ${screening_schedules} s join ${agents} a on a.id = s.agent_id
    where s.id = ${id}::uuid and s.is_active and (s.last_run_at is null or s.last_run_at < ${due}::timestamptz)`,
  );
}

/** Why nothing may be started any more; null when it may, as far as the submission does not judge itself. */
function hindranceOf({ is_timed: timed, plan_limit: limit, elder, leaving }: Schedule): string | null {
  if (leaving) return `Its account awaits deletion. Take the deletion back first. ${AGAIN}`;
  if (elder >= limit) {
    return `The plan of the agent's owner allows ${limit} active schedules. Upgrade it, or turn older ones off. ${AGAIN}`;
  }
  return timed ? null : "Its time zone is not known any more. Set another, and turn the schedule on again.";
}

async function refused(ctx: Context, id: string, problem: Problem): Promise<void> {
  switch (problem.code) {
    case "quota_exceeded":
    case "suite_unavailable":
    case "task_unavailable":
      return note(ctx, id, problem.message);
    case "agent_inactive":
    case "provider_custody_retired":
      return turnOff(ctx, id, `${problem.message} ${AGAIN}`);
    // Tasks and suites that are public stay so: what is not found is an agent that its account does not see any more.
    case "forbidden":
    case "not_found":
      return turnOff(
        ctx,
        id,
        "The account in whose name it screened may not screen this agent any more. Who turns it on again takes it over.",
      );
    default:
      throw problem;
  }
}

async function note(ctx: Context, id: string, error: string): Promise<void> {
  await ctx.db.execute(sql`update ${screening_schedules} set last_error = ${error} where id = ${id}::uuid`);
}

async function turnOff(ctx: Context, id: string, reason: string): Promise<void> {
  await ctx.db.execute(sql`update ${screening_schedules} set is_active = false, next_run_at = null,
    last_error = ${reason}, updated_at = now() where id = ${id}::uuid`);
}
