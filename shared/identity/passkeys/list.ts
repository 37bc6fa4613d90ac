import { sql } from "drizzle-orm";
import type * as z from "zod";
import { pageJson, shortParts } from "../../db/listing.ts";
import { pageResult, readPage } from "../../db/page-result.ts";
import { passkeys } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import type { SessionPrincipal } from "../principal.ts";
import { PasskeyRead } from "./schemas.ts";
import { passkeyJson } from "./view.ts";

const PasskeyList = pageResult(PasskeyRead);

/** A page of the caller's passkeys, the newest first. */
export async function listPasskeys(
  ctx: Context,
  { userId }: SessionPrincipal,
  paging: { page: number; page_size: number },
): Promise<z.output<typeof PasskeyList>> {
  const order = sql`p.created_at desc, p.id desc`;
  const items = sql`(select json_agg(${passkeyJson} order by ${order}) from paged p)`;
  const list = await readPage(ctx, PasskeyList, paging, (stretch) => {
    const parts = shortParts(sql`select p.* from ${passkeys} p where p.user_id = ${userId}::uuid`, "p", order, stretch);
    return sql`with ${parts} select ${pageJson(items)} as result`;
  });
  return list ?? { items: [], total: 0 };
}
