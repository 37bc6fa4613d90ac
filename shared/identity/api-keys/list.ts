import { sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../../db/change.ts";
import { pageResult } from "../../db/page-result.ts";
import { api_keys } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { ApiKeyRead } from "./schemas.ts";
import { keyJson } from "./view.ts";

const KeyList = pageResult(ApiKeyRead);

/** A page of the account's keys: those in force or expired first, then revoked ones, each newest first. */
export async function listKeys(
  ctx: Context,
  userId: string,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<z.output<typeof KeyList>> {
  const order = sql`k.revoked_at is not null, k.created_at desc, k.id desc`;
  const result = await read(
    ctx,
    KeyList,
    sql`with hits as (select k.* from ${api_keys} k where k.user_id = ${userId}::uuid),
    paged as (select * from hits k order by ${order} limit ${size} offset ${(page - 1) * size})
    select jsonb_build_object('total', (select count(*) from hits),
      'items', coalesce((select jsonb_agg(${keyJson} order by ${order}) from paged k), '[]')) as result`,
  );
  return result ?? { items: [], total: 0 };
}
