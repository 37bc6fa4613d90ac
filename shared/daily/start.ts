import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { goOnBehind } from "../db/cursors.ts";
import { cursors, daily_work } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { DAILY_NAMES } from "./names.static.ts";
import { oweTurns } from "./message.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** When the trigger of the daily work comes, by UTC. */
export const DAILY_AT = { hour: 3, minute: 17 } as const;

/** How long after its time a trigger counts as missed. */
const GRACE = 3 * MINUTE;

/** The name under which an id is kept whose time is that of the last minute's work. */
const MINUTE_WORK = "minute work";

/** After so long without it, the queue may have given up messages: the last try of most comes after half an hour. */
const AWAY = 30 * MINUTE;

/** The items that look for what was lost with such messages. */
const RESCUES = JSON.stringify(["rescue runs", "settle sessions", "rescue certifications"]);

const NAMES = JSON.stringify(DAILY_NAMES);

/**
 * Owes the queue one message for each item of the daily work, so that none holds up another. An item that is still under
 * way goes on from where it is. One statement.
 */
export async function startDaily(ctx: Context): Promise<void> {
  await start(ctx, sql`select name from jsonb_array_elements_text(${NAMES}::jsonb) name`, sql`true`);
}

/**
 * Starts what the last trigger should have started and did not, as when it met a database that was down; an item that has
 * never been started waits for the next trigger. After half an hour in which no minute's work was done, it also starts the
 * items that look for what the queue gave up meanwhile. However often it is called, each trigger, and each such time, is made
 * up for once. One statement.
 */
export async function startMissedDaily(ctx: Context): Promise<void> {
  const now = ctx.now();
  const due = lastTrigger(now.getTime() - GRACE);
  const before = new Date(now.getTime() - AWAY);
  const at = (time: Date): SQL => sql`${time.toISOString()}::timestamptz`;
  const wasAway = sql`exists (select from ${cursors} c
    where c.name = ${MINUTE_WORK} and uuid_extract_timestamp(c.cursor) < ${at(before)})`;
  const isLost = sql`name in (select jsonb_array_elements_text(${RESCUES}::jsonb)) and started_at < ${at(before)} and ${wasAway}`;
  const known = sql`select name from ${daily_work} where (started_at < ${at(due)} or (${isLost}))
    and name in (select jsonb_array_elements_text(${NAMES}::jsonb))`;
  await start(ctx, known, sql`(d.started_at < ${at(due)} or d.started_at < ${at(before)})`, [
    sql`done as (${goOnBehind(MINUTE_WORK, sql`select ${newId(now)}::uuid`)})`,
  ]);
}

async function start(ctx: Context, names: SQL, condition: SQL, parts: readonly SQL[] = []): Promise<void> {
  const now = sql`${ctx.now().toISOString()}::timestamptz`;
  const started = sql`started as (
      insert into ${daily_work} as d (name, turn, started_at) select name, uuidv7(), ${now} from (${names}) n
      on conflict (name) do update set turn = excluded.turn, started_at = excluded.started_at,
        is_faulty = d.is_faulty and d.cursor is not null
      where ${condition} returning name, turn
    ), messages as (${oweTurns("started")})`;
  await write(ctx, {
    parts: sql`with ${sql.join([...parts, started], sql`, `)}`,
    owes: ["messages"],
    select: sql`select to_jsonb(count(*)) from started`,
    result: z.number(),
  });
}

/** The time of the last trigger that was due before `time`, in milliseconds. */
export function lastTrigger(time: number): Date {
  const offset = (DAILY_AT.hour * 60 + DAILY_AT.minute) * MINUTE;
  return new Date(Math.floor((time - offset) / DAY) * DAY + offset);
}
