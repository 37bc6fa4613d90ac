import { sql } from "drizzle-orm";
import * as z from "zod";
import { accountOf } from "../agents/account.ts";
import { agentOwner } from "../agents/conditions.ts";
import { write } from "../db/change.ts";
import type { Piece } from "../db/pieces.ts";
import { agents, certifications } from "../db/schema/index.ts";
import { tellOnce } from "../mail/owe-notice.ts";
import type { Context } from "../platform/context.ts";
import { inForce } from "./credential.ts";

/** How many certifications one statement looks at. */
const SIZE = 500;

/** How many days before its end a certification's owner is told, the first time and the second. */
const DAYS = { first: 14, second: 3 };

/** The certification that was looked at last: they are looked at by their ends. */
const Last = z.object({ at: z.iso.datetime({ offset: true }), id: z.uuid() });

const Seen = z.object({ count: z.int(), last: Last.nullable() });

/**
 * Tells the owners of the next 500 certifications after the one that `cursor` names that they end within 14 days, and again
 * within 3; each once, however often it is called. Nobody is told of one that is already followed by another.
 */
export async function remindOfEnds(ctx: Context, cursor: string | null): Promise<Piece> {
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const last = cursor === null ? null : Last.parse(JSON.parse(cursor));
  const behind = last === null ? sql`true` : sql`(c.expires_at, c.id) > (${last.at}::timestamptz, ${last.id}::uuid)`;
  const until = (days: number) => sql`${at} + ${days} * interval '1 day'`;
  const seen = await write(ctx, {
    parts: sql`with ending as (
      select c.id, c.agent_id, c.expires_at,
        case when c.expires_at <= ${until(DAYS.second)} then ${DAYS.second} else ${DAYS.first} end as days
      from ${certifications} c where c.status = 'certified' and c.expires_at > ${at}
        and c.expires_at <= ${until(DAYS.first)} and ${behind}
      order by c.expires_at, c.id limit ${SIZE}
    ), ${tellOnce(
      "mailed",
      "certification_expiry",
      sql`select ${accountOf(agentOwner)} as user_id, 'certification_expiring' as notice, e.id || ':' || e.days as about,
        a.name as title, 'It ends on ' || to_char(e.expires_at at time zone 'UTC', 'YYYY-MM-DD') || '.' as reason,
        a.id as page_id
      from ending e join ${agents} a on a.id = e.agent_id
      where not exists (select from ${certifications} c
        where c.agent_id = e.agent_id and ${inForce(ctx.now())} and c.expires_at > e.expires_at)`,
    )}`,
    owes: ["mailed"],
    select: sql`select jsonb_build_object('count', (select count(*) from ending), 'last', (
      select jsonb_build_object('at', expires_at, 'id', id) from ending order by expires_at desc, id desc limit 1)) as result`,
    result: Seen,
  });
  return { next: seen?.count === SIZE ? JSON.stringify(seen.last) : null };
}
