import { type SQL, sql } from "drizzle-orm";
import { lockAgents } from "../agents/lock.ts";
import { setVerifiedState } from "../agents/parts.ts";
import { write } from "../db/change.ts";
import { narrowing } from "../db/narrowing.ts";
import type { Piece } from "../db/pieces.ts";
import { certifications } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { cursorAfter, Done, doneOf, firstByEnd, isBehind } from "./by-end.ts";
import { stateWithout } from "./state.ts";
import { oweChanges } from "./told.ts";

/** How many certifications one statement expires. */
const SIZE = 500;

/**
 * Expires the next 500 certifications, after the one that `cursor` names, whose term has ended; their agents fall back to
 * being verified. One that the database refuses is stepped over.
 */
export function expireCertifications(ctx: Context, cursor: string | null): Promise<Piece> {
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const isDue = (after: string | null) => sql`c.status = 'certified' and c.expires_at <= ${at} and ${isBehind(after)}`;
  return narrowing(ctx, cursor, {
    size: SIZE,
    work: (after, size) => expire(ctx, isDue(after), at, size),
    first: (after) => firstByEnd(ctx, isDue(after)),
  });
}

async function expire(ctx: Context, isDue: SQL, at: SQL, size: number): Promise<Piece> {
  const due = sql`select c.id, c.agent_id from ${certifications} c where ${isDue}
    order by c.expires_at, c.id limit ${size}`;
  const expired = await write(ctx, {
    lock: lockAgents(sql`select d.agent_id from (${due}) d`),
    parts: sql`with expired as (
      update ${certifications} c set status = 'expired', updated_at = ${at} from (${due}) d
      where c.id = d.id and c.status = 'certified'
      returning c.*
    ), changes as (${oweChanges(sql`select * from expired`, ctx.now())}
    ), shown as (
      ${setVerifiedState(sql`select agent_id from expired`, stateWithout(sql`select id from expired`, ctx.now()))}
    )`,
    owes: ["changes"],
    select: doneOf("expired"),
    result: Done,
  });
  if (expired !== null && expired.count > 0) ctx.cache.invalidate("board");
  return { next: cursorAfter(expired, size) };
}
