import { sql } from "drizzle-orm";
import type * as z from "zod";
import { pageJson, shortParts } from "../../db/listing.ts";
import { pageResult, readPage } from "../../db/page-result.ts";
import type { Context } from "../../platform/context.ts";
import type { SessionPrincipal } from "../principal.ts";
import { SessionRead } from "../shown.ts";
import { sessionJson, signedIn } from "./view.ts";

const SessionList = pageResult(SessionRead);

/** A page of the account's sessions that are in force, the most recently used first. */
export async function listSignedIn(
  ctx: Context,
  { userId, sessionId }: Pick<SessionPrincipal, "userId" | "sessionId">,
  paging: { page: number; page_size: number },
): Promise<z.output<typeof SessionList>> {
  const order = sql`s.last_used_at desc, s.id desc`;
  const hits = sql`select s.* from ${signedIn(userId, ctx.now())}`;
  const items = sql`(select json_agg(${sessionJson(sessionId)} order by ${order}) from paged s)`;
  const result = await readPage(ctx, SessionList, paging, (stretch) => {
    const parts = shortParts(hits, "s", order, stretch);
    return sql`with ${parts} select ${pageJson(items)} as result`;
  });
  return result ?? { items: [], total: 0 };
}
