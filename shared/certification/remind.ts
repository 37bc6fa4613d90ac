import { type SQL, sql } from "drizzle-orm";
import { accountOf } from "../agents/account.ts";
import { agentOwner } from "../agents/conditions.ts";
import { write } from "../db/change.ts";
import { narrowing } from "../db/narrowing.ts";
import type { Piece } from "../db/pieces.ts";
import { agents, certifications } from "../db/schema/index.ts";
import { tellOnce } from "../mail/owe-notice.ts";
import type { Context } from "../platform/context.ts";
import { cursorAfter, Done, doneOf, firstByEnd, isBehind } from "./by-end.ts";
import { inForce } from "./credential.ts";

/** How many certifications one statement looks at. */
const SIZE = 500;

/** How many days before its end a certification's owner is told, the first time and the second. */
const DAYS = { first: 14, second: 3 };

/**
 * Tells the owners of the next 500 certifications after the one that `cursor` names that they end within 14 days, and again
 * within 3; each once, however often it is called. Nobody is told of one that is already followed by another, or of an agent
 * that is switched off: it can't be certified again.
 * One that the database refuses is stepped over.
 */
export function remindOfEnds(ctx: Context, cursor: string | null): Promise<Piece> {
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const isEnding = (after: string | null) => sql`c.status = 'certified' and c.expires_at > ${at}
    and c.expires_at <= ${until(at, DAYS.first)} and ${isBehind(after)}`;
  return narrowing(ctx, cursor, {
    size: SIZE,
    work: (after, size) => remind(ctx, isEnding(after), at, size),
    first: (after) => firstByEnd(ctx, isEnding(after)),
  });
}

function until(at: SQL, days: number): SQL {
  return sql`${at} + ${days} * interval '1 day'`;
}

async function remind(ctx: Context, isEnding: SQL, at: SQL, size: number): Promise<Piece> {
  const seen = await write(ctx, {
    parts: sql`with ending as (
      select c.id, c.agent_id, c.expires_at,
        case when c.expires_at <= ${until(at, DAYS.second)} then ${DAYS.second} else ${DAYS.first} end as days
      from ${certifications} c where ${isEnding} order by c.expires_at, c.id limit ${size}
    ), ${tellOnce(
      "mailed",
      "certification_expiry",
      sql`select ${accountOf(agentOwner)} as user_id, 'certification_expiring' as notice, e.id || ':' || e.days as about,
        a.name as title, 'It ends on ' || to_char(e.expires_at at time zone 'UTC', 'YYYY-MM-DD') || '.' as reason,
        a.id as page_id
      from ending e join ${agents} a on a.id = e.agent_id and a.is_active
      where not exists (select from ${certifications} c
        where c.agent_id = e.agent_id and ${inForce(ctx.now())} and c.expires_at > e.expires_at)`,
    )}`,
    owes: ["mailed"],
    select: doneOf("ending"),
    result: Done,
  });
  return { next: cursorAfter(seen, size) };
}
