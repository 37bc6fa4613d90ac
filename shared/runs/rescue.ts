import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { FIRST_ID } from "../db/cursors.ts";
import { DRAWN } from "../db/owed.ts";
import type { Piece } from "../db/pieces.ts";
import { isOpenRun, runs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { oweDispatchAgain, oweScore } from "./messages.ts";

/** How many open runs one piece looks at: as many messages are sent in ten requests. */
const SIZE = 1000;

/** How long nothing has become of a run whose message may be lost: longer than the queue tries it, and then to tell of that. */
const OVERDUE = sql`interval '2 hours'`;

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
      select r.* from looked r where r.lease_token is null and not r.awaiting_callback
        and coalesce(r.answered_at, r.started_at, r.created_at) < ${at} - ${OVERDUE}
    ), unanswered as (select id, agent_id from lost where answered_at is null
    ), dispatches as (${oweDispatchAgain("unanswered")}
    ), scores as (${oweScore(
      sql`select id, ${DRAWN} as attempt, null::timestamptz as not_before from lost where answered_at is not null`,
    )})`,
    owes: ["dispatches", "scores"],
    select: sql`select to_jsonb(agent_id || ' ' || id) from looked order by agent_id, id offset ${SIZE - 1}`,
    result: z.string(),
  });
  return { next };
}
