import { sql } from "drizzle-orm";
import type * as z from "zod";
import { pageJson, shortParts } from "../../db/listing.ts";
import { pageResult, readPage } from "../../db/page-result.ts";
import { sessions } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import type { SessionPrincipal } from "../principal.ts";
import { SessionRead } from "../shown.ts";

const SessionList = pageResult(SessionRead);

/** A page of the account's sessions that are in force, the most recently used first. */
export async function listSignedIn(
  ctx: Context,
  { userId, sessionId }: Pick<SessionPrincipal, "userId" | "sessionId">,
  paging: { page: number; page_size: number },
): Promise<z.output<typeof SessionList>> {
  const order = sql`s.last_used_at desc, s.id desc`;
  const hits = sql`select s.* from ${sessions} s where s.user_id = ${userId}::uuid and s.revoked_at is null
    and s.expires_at > ${ctx.now().toISOString()}::timestamptz`;
  const item = sql`json_build_object('id', s.id, 'created_at', s.created_at, 'last_used_at', s.last_used_at,
    'user_agent', s.user_agent, 'current', s.id = ${sessionId}::uuid)`;
  const items = sql`(select json_agg(${item} order by ${order}) from paged s)`;
  const result = await readPage(ctx, SessionList, paging, (stretch) => {
    const parts = shortParts(hits, "s", order, stretch);
    return sql`with ${parts} select ${pageJson(items)} as result`;
  });
  return result ?? { items: [], total: 0 };
}
