import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import type { Piece } from "../db/pieces.ts";
import { agents, board_scores } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";

/** For so many days each day of an agent's history is kept; of those before, the Mondays. */
export const EVERY_DAY = 92;

/** The agents of one piece. */
const SIZE = 5000;

/**
 * Thins the histories of the next 5,000 agents after the one whose id is `cursor`: from the day that is 92 days ago it leaves
 * the Mondays alone. The boards themselves, as they were published, stay. One statement.
 */
export async function forgetScores(ctx: Context, cursor: string | null): Promise<Piece> {
  const today = sql`${ctx.now().toISOString().slice(0, 10)}::date`;
  const next = await write(ctx, {
    parts: sql`with next as (
      select id from ${agents} where ${cursor}::uuid is null or id > ${cursor}::uuid order by id limit ${SIZE}
    ), forgotten as (
      delete from ${board_scores} where agent_id = any (array(select id from next))
        and day <= ${today} - ${EVERY_DAY}::integer and extract(isodow from day) <> 1
    )`,
    select: sql`select to_jsonb(max(id::text)) from next having count(*) = ${SIZE}`,
    result: z.uuid(),
  });
  return { next };
}
