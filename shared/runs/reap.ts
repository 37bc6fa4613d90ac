import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { read, write } from "../db/change.ts";
import { databaseFailure } from "../db/client.ts";
import { cursorOf, FIRST_ID, goOnBehind } from "../db/cursors.ts";
import { type FirstRow, narrowing } from "../db/narrowing.ts";
import { runs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { dropSpans } from "../telemetry/forget.ts";
import { expire } from "./expire.ts";
import { giveUpEach } from "./give-up.ts";
import { oweDispatchAgain } from "./messages.ts";

/** How often a run is taken up before it is given up as our fault. */
const MAX_ATTEMPTS = 5;

/** Runs of one piece, and the most pieces of one call. */
const SIZE = 200;
const MAX_PIECES = 40;

/** The name under which it is kept where the next call goes on. */
const REAPING = "reap";

const Reaped = z.object({
  runs: z.int(),
  last: z.uuid().nullable(),
  waiting: z.array(z.uuid()),
  hopeless: z.array(z.uuid()),
});

const hasExpired = sql`r.status = 'running' and r.lease_expires_at < now()`;

/** SQL: what is asked of those behind one: that their lease has expired, and that they are behind it. */
const expiredAfter = (id: string): SQL => sql`${hasExpired} and r.id > ${id}::uuid`;

/**
 * Finds running runs whose lease has expired: for those that wait for a callback past their deadline `expire` ends the
 * wait, others are freed to be taken up again, without what their agents sent of the attempt that was lost, or given up as
 * our fault after five attempts. At most 8,000 a call, piece by piece; returns how many. One that the database refuses is
 * stepped over; where there are many of these, the next call goes on behind them. Where Redis does not answer, by which
 * `expire` learns of reports that could not be kept, it throws once all others are done.
 */
export async function reap(ctx: Context): Promise<number> {
  const begun = await read(
    ctx,
    z.uuid(),
    sql`select to_jsonb(${cursorOf(REAPING)}) as result where exists (select from ${runs} r where ${hasExpired})`,
  );
  if (begun === null) return 0;
  let [reaped, behind] = [0, begun];
  let next: string | null = begun;
  const faults: unknown[] = [];
  for (let piece = 0; next !== null && piece < MAX_PIECES; piece += 1) {
    ({ next } = await narrowing(ctx, next, {
      size: SIZE,
      first: (after) => firstExpired(ctx, after ?? begun),
      async work(after, size) {
        behind = after ?? begun;
        const done = await reapPiece(ctx, behind, size, faults);
        reaped += done?.runs ?? 0;
        return { next: done?.runs === size ? done.last : null };
      },
    }));
  }
  const place = sql`select ${next === null ? null : behind}::uuid`;
  if (next !== null || begun !== FIRST_ID) await ctx.db.execute(goOnBehind(REAPING, place));
  if (faults.length > 0) throw faults[0];
  return reaped;
}

/** Does the first of them behind one; adds to `faults` what kept waits from being ended that is not the database's. */
async function reapPiece(
  ctx: Context,
  after: string,
  size: number,
  faults: unknown[],
): Promise<z.output<typeof Reaped> | null> {
  const now = ctx.now();
  // What was reported while the call was open is not asked for again: who has said it once may not say it a second time.
  const isHopeless = sql`not r.awaiting_callback and (r.attempt >= ${MAX_ATTEMPTS} or r.answered_at is not null)`;
  const reaped = await write(ctx, {
    parts: sql`with batch as (
      select r.id, r.awaiting_callback, ${isHopeless} as is_hopeless from ${runs} r where ${expiredAfter(after)}
      order by r.id limit ${size} for update skip locked
    ), freed as (
      update ${runs} r set lease_token = null, lease_expires_at = null, callback_hash = null
      from batch b where r.id = b.id and not b.awaiting_callback and not b.is_hopeless
      returning r.id, r.agent_id
    ), dropped as (${dropSpans(sql`select id from freed`)}
    ), dispatches as (${oweDispatchAgain("freed")})`,
    owes: ["dispatches"],
    select: sql`select jsonb_build_object('runs', count(*), 'last', (select id from batch order by id desc limit 1),
      'waiting', coalesce(jsonb_agg(id) filter (where awaiting_callback), '[]'),
      'hopeless', coalesce(jsonb_agg(id) filter (where is_hopeless), '[]')) from batch`,
    result: Reaped,
  });
  if (reaped === null || reaped.runs === 0) return null;
  ctx.log.info("reaped", { runs: reaped.runs, at: now.toISOString() });
  // By its agent's lock a run becomes final: only those of these runs are locked, and none where all can be taken up again.
  if (reaped.hopeless.length > 0) await giveUpEach(ctx, reaped.hopeless, sql`${hasExpired} and ${isHopeless}`);
  if (reaped.waiting.length > 0) {
    await expire(ctx, reaped.waiting).catch((error: unknown) => {
      if (databaseFailure(error) !== null) throw error;
      faults.push(error);
    });
  }
  return reaped;
}

async function firstExpired(ctx: Context, after: string): Promise<FirstRow | null> {
  const id = await read(
    ctx,
    z.uuid(),
    sql`select to_jsonb(r.id) as result from ${runs} r where ${expiredAfter(after)} order by r.id limit 1`,
  );
  return id === null ? null : { cursor: id, named: { run_id: id } };
}
