import { sql } from "drizzle-orm";
import * as z from "zod";
import { read, write } from "../db/change.ts";
import { oweAnew } from "../db/owed.ts";
import { screening_schedules } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { Instant } from "../platform/time.ts";
import { nextInstant } from "./cron.ts";

/** How many schedules one statement takes, and how many such statements one call runs at most. */
const PIECE = 500;
const MAX_PIECES = 20;

/** The message that has a schedule start the screening that was due at an instant. */
export const ScheduleMessage = z.strictObject({ schedule_id: z.uuid(), due_at: z.iso.datetime() });

const Due = z.array(z.object({ id: z.uuid(), cron: z.string(), timezone: z.string(), due_at: Instant }));
type Due = z.output<typeof Due>;

/**
 * Owes the queue one message for every schedule that is due, at most 10,000, and moves each to its first instant after
 * now in the same statement: however many were missed, one screening makes up for them. Returns how many.
 */
export async function startDueSchedules(ctx: Context): Promise<number> {
  let started = 0;
  for (let piece = 0; piece < MAX_PIECES; piece += 1) {
    const due = await readDue(ctx);
    if (due.length > 0) started += await startPiece(ctx, due);
    if (due.length < PIECE) break;
  }
  return started;
}

async function readDue(ctx: Context): Promise<Due> {
  const due = await read(
    ctx,
    Due,
    sql`select jsonb_agg(d) as result from (
      select s.id, s.cron, s.timezone, s.next_run_at as due_at from ${screening_schedules} s
      where s.is_active and s.next_run_at <= ${ctx.now().toISOString()}::timestamptz order by s.next_run_at limit ${PIECE}
    ) d`,
  );
  return due ?? [];
}

/** Starts those that are still due as they were read: another trigger, or a change of the time, may have come between. */
async function startPiece(ctx: Context, due: Due): Promise<number> {
  const now = ctx.now();
  const moves = due.map(({ id, cron, timezone, due_at }) => ({
    id,
    due_at,
    next: nextInstant(cron, timezone, now)?.toISOString() ?? null,
  }));
  const started = await write(ctx, {
    parts: sql`with target as (
      select m.id, m.due_at, m.next
      from jsonb_to_recordset(${JSON.stringify(moves)}::jsonb) as m(id uuid, due_at text, next timestamptz)
        join ${screening_schedules} s on s.id = m.id
      where s.is_active and s.next_run_at = m.due_at::timestamptz for update of s skip locked
    ), moved as (
      update ${screening_schedules} s set next_run_at = t.next from target t where s.id = t.id
    ), messages as (${oweAnew(
      "schedule",
      sql`select id, (extract(epoch from due_at::timestamptz) / 60)::integer as generation,
        jsonb_build_object('schedule_id', id, 'due_at', due_at) as body, null as flow_key,
        null::timestamptz as not_before from target`,
    )})`,
    owes: ["messages"],
    select: sql`select to_jsonb(count(*)) as result from messages`,
    result: z.int(),
  });
  return started ?? 0;
}
