import { sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../../db/change.ts";
import { pageResult } from "../../db/page-result.ts";
import { sessions } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import type { SessionPrincipal } from "../principal.ts";
import { SessionRead } from "../shown.ts";

const SessionList = pageResult(SessionRead);

/** A page of the account's sessions that are in force, the most recently used first. */
export async function listSignedIn(
  ctx: Context,
  { userId, sessionId }: Pick<SessionPrincipal, "userId" | "sessionId">,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<z.output<typeof SessionList>> {
  const order = sql`s.last_used_at desc, s.id desc`;
  const result = await read(
    ctx,
    SessionList,
    sql`with hits as (
      select s.* from ${sessions} s where s.user_id = ${userId}::uuid and s.revoked_at is null
        and s.expires_at > ${ctx.now().toISOString()}::timestamptz
    ), paged as (select * from hits s order by ${order} limit ${size} offset ${(page - 1) * size})
    select jsonb_build_object('total', (select count(*) from hits), 'items', coalesce((
      select jsonb_agg(jsonb_build_object('id', s.id, 'created_at', s.created_at, 'last_used_at', s.last_used_at,
        'user_agent', s.user_agent, 'current', s.id = ${sessionId}::uuid) order by ${order}) from paged s
    ), '[]')) as result`,
  );
  return result ?? { items: [], total: 0 };
}
