import { sql } from "drizzle-orm";
import * as z from "zod";
import { screening_schedules } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { flush } from "../db/outbox.ts";
import { oweAnew, owed } from "../db/owed.ts";
import type { Message } from "../platform/message.ts";
import { nextInstant } from "./cron.ts";

/** Schedules that one statement takes, and most statements of one time. */
const PIECE = 500;
const MAX_PIECES = 20;

/** The message that has a schedule start the screening that was due at an instant. */
export const ScheduleMessage = z.strictObject({ schedule_id: z.uuid(), due_at: z.iso.datetime() });

interface Due {
  id: string;
  cron: string;
  timezone: string;
  due_at: string;
}

/**
 * Owes the queue one message for every schedule that is due, at most 10,000, and moves each to its first instant after
 * now in the same statement: however many were missed, one screening makes up for them. Returns how many.
 */
export async function startDueSchedules(ctx: Context): Promise<number> {
  let started = 0;
  for (let piece = 0; piece < MAX_PIECES; piece += 1) {
    const due = await readDue(ctx);
    const messages = due.length === 0 ? [] : await take(ctx, due);
    ctx.defer(() => flush(ctx, messages));
    started += messages.length;
    if (due.length < PIECE) break;
  }
  return started;
}

async function readDue(ctx: Context): Promise<Due[]> {
  const due = await readJson<Due[]>(
    ctx,
    sql`select jsonb_agg(d) as result from (
      select s.id, s.cron, s.timezone, s.next_run_at as due_at from ${screening_schedules} s
      where s.is_active and s.next_run_at <= ${ctx.now().toISOString()}::timestamptz order by s.next_run_at limit ${PIECE}
    ) d`,
  );
  return due ?? [];
}

/** Takes those that are still due as they were read: another trigger, or a change of the time, may have come between. */
async function take(ctx: Context, due: Due[]): Promise<Message[]> {
  const now = ctx.now();
  const moves = due.map(({ id, cron, timezone, due_at }) => ({
    id,
    due_at: new Date(due_at).toISOString(),
    next: nextInstant(cron, timezone, now)?.toISOString() ?? null,
  }));
  const messages = await readJson<Message[]>(
    ctx,
    sql`with taken as (
      select m.id, m.due_at, m.next
      from jsonb_to_recordset(${JSON.stringify(moves)}::jsonb) as m(id uuid, due_at text, next timestamptz)
        join ${screening_schedules} s on s.id = m.id
      where s.is_active and s.next_run_at = m.due_at::timestamptz for update of s skip locked
    ), moved as (
      update ${screening_schedules} s set next_run_at = t.next from taken t where s.id = t.id
    ), messages as (${oweAnew(
      "schedule",
      sql`select id, (extract(epoch from due_at::timestamptz) / 60)::integer as generation,
        jsonb_build_object('schedule_id', id, 'due_at', due_at) as body, null as flow_key,
        null::timestamptz as not_before from taken`,
    )})
    select ${owed("messages")} as result`,
  );
  return messages ?? [];
}
