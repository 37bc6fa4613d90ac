import { sql } from "drizzle-orm";
import { api_keys } from "../../db/schema/index.ts";
import { readJson } from "../../db/statement.ts";
import type { Context } from "../../platform/context.ts";
import { keyJson, type KeyRow } from "./view.ts";

/** A page of the account's keys: those in force or expired first, then revoked ones, each newest first. */
export async function listKeys(
  ctx: Context,
  userId: string,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<{ items: KeyRow[]; total: number }> {
  const order = sql`k.revoked_at is not null, k.created_at desc, k.id desc`;
  const result = await readJson<{ items: KeyRow[]; total: number }>(
    ctx,
    sql`with hits as (select k.* from ${api_keys} k where k.user_id = ${userId}::uuid),
    paged as (select * from hits k order by ${order} limit ${size} offset ${(page - 1) * size})
    select jsonb_build_object('total', (select count(*) from hits),
      'items', coalesce((select jsonb_agg(${keyJson} order by ${order}) from paged k), '[]')) as result`,
  );
  return result ?? { items: [], total: 0 };
}
