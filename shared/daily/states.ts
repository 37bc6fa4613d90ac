import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { utcText } from "../db/instant.ts";
import { isQueueTaking } from "../db/outbox.ts";
import { daily_work } from "../db/schema/index.ts";
import { areUsable, watchedSecrets } from "../epochs/usable.ts";
import type { Context } from "../platform/context.ts";
import { isLogCurrent } from "../transparency/logged.ts";
import { DAILY_NAMES } from "./names.static.ts";
import { lastTrigger } from "./start.ts";

/** The state of an item of the daily work; time and error are null for one that has never been done and never failed. */
const DailyState = z.object({
  name: z.string(),
  /** When it was last completed without a fault. */
  last_success_at: z.string().nullable(),
  /** What has gone wrong since then. */
  last_error: z.string().nullable(),
  /** Whether the last night that should be over by now was missed, or failed. */
  is_late: z.boolean(),
});

/** How long after its trigger an item may be under way: the last try of one that fails comes after half an hour. */
const LATE_MS = 4 * 60 * 60_000;

const Read = z.object({
  daily: z.array(DailyState),
  secrets: z.array(z.string()),
  is_log_current: z.boolean(),
  is_queue_taking: z.boolean(),
});

/** How the work stands that the service does by itself. */
export interface WorkStates {
  /** Each item of the daily work. */
  daily: z.output<typeof DailyState>[];
  /** Whether runs can be minted, now and in the next two epochs. */
  is_minting_ready: boolean;
  /** Whether what was said gets its place in the log in time. */
  is_log_current: boolean;
  /** Whether the queue takes the messages that it is owed. */
  is_queue_taking: boolean;
}

/** What is said while nobody can tell. */
export const UNKNOWN: WorkStates = {
  daily: [],
  is_minting_ready: false,
  is_log_current: false,
  is_queue_taking: false,
};

/** How the service's own work stands. One statement. */
export async function workStates(ctx: Context): Promise<WorkStates> {
  const names = JSON.stringify(DAILY_NAMES);
  const before = ctx.now().getTime() - LATE_MS;
  const begun = sql`${new Date(before).toISOString()}::timestamptz`;
  const due = sql`${lastTrigger(before).toISOString()}::timestamptz`;
  const found = await read(
    ctx,
    Read,
    sql`select jsonb_build_object('secrets', ${watchedSecrets(ctx)},
        'is_log_current', ${isLogCurrent()}, 'is_queue_taking', ${isQueueTaking()}, 'daily', (
        select jsonb_agg(jsonb_build_object('name', i.name, 'last_success_at', ${utcText(sql`d.last_success_at`)},
          'last_error', d.last_error,
          'is_late', coalesce(d.last_success_at < ${due}, d.started_at <= ${begun}, false)) order by i.at)
        from jsonb_array_elements_text(${names}::jsonb) with ordinality i(name, at)
          left join ${daily_work} d on d.name = i.name)) as result`,
  );
  if (found === null) return UNKNOWN;
  const { secrets, ...states } = found;
  return { ...states, is_minting_ready: areUsable(ctx, secrets) };
}
