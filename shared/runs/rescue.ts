import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { FIRST_ID } from "../db/cursors.ts";
import { idsOf } from "../db/ids.ts";
import { DRAWN } from "../db/owed.ts";
import type { Piece } from "../db/pieces.ts";
import { isOpenRun, runs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { giveUpEach } from "./give-up.ts";
import { oweDispatchAgain, oweScore } from "./messages.ts";

/** How many open runs one piece looks at: as many messages are sent in ten requests. */
const SIZE = 1000;

/** How long nothing has become of a run whose message may be lost: about as long as the queue tries it, and then to tell of that. */
const OVERDUE = sql`interval '1 hour'`;

/** For how long a run is owed further messages, should the tries of each end with a database that did not answer. */
const PATIENCE = sql`interval '1 day'`;

/** SQL: that nobody holds the open run `r`, and that it waits for nothing but its message. */
const isUnheld = sql`(${isOpenRun(sql`r.status`)} and r.lease_token is null and not r.awaiting_callback)`;

/** SQL: the parts `dispatches` and `scores` of a statement, which owe each run of the part `lost` the message that it lacks. */
const rescuing = (): SQL => sql`unanswered as (select id, agent_id from lost where answered_at is null
    ), dispatches as (${oweDispatchAgain("unanswered")}
    ), scores as (${oweScore(
      sql`select id, ${DRAWN} as attempt, null::timestamptz as not_before from lost where answered_at is not null`,
    )})`;

/**
 * Has runs carried out or graded whose messages may be lost for good, as when the database failed for longer than the queue
 * tries: of the next 1,000 open runs behind the agent and run that `cursor` names, those that nobody holds and that wait for
 * nothing else. Where the queue still has the message of one, because its agent is slow, that comes twice and does nothing.
 */
export async function rescueRuns(ctx: Context, cursor: string | null): Promise<Piece> {
  const [agent, run] = (cursor ?? `${FIRST_ID} ${FIRST_ID}`).split(" ");
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const next = await write(ctx, {
    parts: sql`with looked as materialized (
      select r.* from ${runs} r where ${isOpenRun(sql`r.status`)} and (r.agent_id, r.id) > (${agent}::uuid, ${run}::uuid)
      order by r.agent_id, r.id limit ${SIZE}
    ), lost as (
      select r.* from looked r where ${isUnheld} and coalesce(r.answered_at, r.started_at, r.created_at) < ${at} - ${OVERDUE}
    ), ${rescuing()}`,
    owes: ["dispatches", "scores"],
    select: sql`select to_jsonb(agent_id || ' ' || id) from looked order by agent_id, id offset ${SIZE - 1}`,
    result: z.string(),
  });
  return { next };
}

/**
 * Has runs carried out or graded whose message came to its last try while the database did not answer: nobody knows yet what
 * is wrong with them, if anything. Those that were submitted more than a day before are given up as our fault.
 */
export async function rescueOrGiveUp(ctx: Context, runIds: readonly string[]): Promise<void> {
  const isOld = sql`r.created_at < ${ctx.now().toISOString()}::timestamptz - ${PATIENCE}`;
  const old = await write(ctx, {
    parts: sql`with unheld as (select r.*, ${isOld} as is_old from ${runs} r where r.id in (${idsOf(runIds)}) and ${isUnheld}
    ), lost as (select * from unheld where not is_old
    ), ${rescuing()}`,
    owes: ["dispatches", "scores"],
    select: sql`select jsonb_agg(id) from unheld where is_old`,
    result: z.array(z.uuid()),
  });
  if (old !== null) await giveUpEach(ctx, old, sql`${isUnheld} and ${isOld}`);
}
